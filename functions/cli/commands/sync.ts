import { InvalidArgumentError } from 'commander'
import { HARNESSES, type Harness, machineName } from '#schema'
import { examples, type Verb } from '../command.ts'
import { syncTeller } from '../sync/tell.ts'

interface SyncCommandOptions {
  readonly harness?: readonly Harness[]
  readonly cwd?: string
  readonly machine?: string
  readonly secrets: boolean
  readonly refuseSecrets?: boolean
}

/** Names a person may say; everywhere else a harness has one spelling. */
const ALIASES: Readonly<Record<string, Harness>> = { claude: 'claude-code', kimi: 'kimi-code' }

export const harnessNames = (text: string): readonly Harness[] =>
  text.split(',').map((word) => {
    const name = ALIASES[word] ?? HARNESSES.find((harness) => harness === word)
    if (name) return name
    throw new InvalidArgumentError(`"${word}" is none of ${HARNESSES.join(', ')}.`)
  })

export const machineOption = (text: string): string => {
  const checked = machineName.safeParse(text)
  if (checked.success) return checked.data
  throw new InvalidArgumentError(`${checked.error.issues[0]?.message}.`)
}

export const sync: Verb = (program, act) =>
  program
    .command('sync')
    .summary('archive the sessions of coding agents on this machine')
    .description(
      'Sends what is new of the sessions that Claude Code, Codex and Kimi Code keep on this machine, byte for byte. What was ' +
        'sent before is not sent again, and a pass in which nothing has changed reads no file. Nothing of theirs is ever ' +
        'written to, and links are not followed. What is about to be sent is looked through for secrets, which are counted.',
    )
    .option('--harness <list>', `only these: ${HARNESSES.join(', ')}`, harnessNames)
    .option('--cwd <folder>', 'only sessions held in this folder or below it')
    .option(
      '--machine <name>',
      'the name of this machine; default RUNFOLD_MACHINE or its host name',
      machineOption,
    )
    .option('--verify', 'believe nothing: hash every file and compare it with the server')
    .option('--dry-run', 'say what would be sent, and send nothing')
    .option('--no-secrets', 'do not look for secrets')
    .option('--refuse-secrets', 'hold a file back whose new bytes hold secrets')
    .addHelpText(
      'after',
      `
Homes are CLAUDE_CONFIG_DIR or ~/.claude, CODEX_HOME or ~/.codex, and
KIMI_CODE_HOME or ~/.kimi-code; claude and kimi are short for their harness.
To archive sessions as they grow: runfold watch --sessions.
${examples('sync', 'sync --harness claude --cwd ~/site', 'sync --verify --json')}`,
    )
    .action(
      act(
        async (
          session,
          options: SyncCommandOptions & { readonly verify?: boolean; readonly dryRun?: boolean },
        ) => {
          const { openSync, machineOf } = await import('../../daemon/sync/open-sync.ts')
          const { io, signal } = session
          const teller = syncTeller(session, options.dryRun === true)
          using syncing = await openSync({
            client: await session.client(),
            url: (await session.config()).url,
            env: io.env,
            machine: machineOf(io.env, options.machine),
            harnesses: options.harness,
            cwd: options.cwd,
            looksForSecrets: options.secrets || options.refuseSecrets === true,
            refusesSecrets: options.refuseSecrets === true,
            verifies: options.verify === true,
            isDry: options.dryRun === true,
            signal,
          })
          await syncing.once(teller)
          return teller.end()
        },
      ),
    )
