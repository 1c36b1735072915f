import prettyBytes from 'pretty-bytes'
import { type Client, Redacted } from '#client'
import { RunfoldError } from '#schema'
import { counted } from '../../counted.ts'
import { examples, runName, type Verb } from '../command.ts'
import { type Config, DEFAULT_URL, readConfig } from '../config.ts'
import { type Copied, copyRun } from '../copy/copy-run.ts'
import { tryEach } from '../each.ts'
import type { ExitCode } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { startProgress } from '../progress.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'
import { type WorkerOptions, workerOf } from '../worker.ts'

interface CopyCommandOptions extends WorkerOptions {
  readonly from: string
  readonly to: string
  readonly fromToken?: string
  readonly toToken?: string
  readonly all?: boolean
  readonly force?: boolean
}

export const copy: Verb = (program, act) =>
  program
    .command('copy')
    .summary('copy runs from one server to another')
    .description(
      'Copies runs from one server to another, byte for byte; nothing changes where they came from. What both have is ' +
        'compared first: only the rest is sent, so an interrupted copy goes on where it stopped, and where they differ ' +
        'nothing is sent.',
    )
    .argument('[run...]', 'the runs', (run, before: readonly string[] = []) => [...before, runName(run)])
    .requiredOption('--from <url>', 'the server that has the runs (scopes read and resume)')
    .requiredOption('--to <url>', 'the server that is to have them (scopes read and append)')
    .option(
      '--from-token <token>',
      'better RUNFOLD_FROM_TOKEN: arguments can be seen by others on this machine',
    )
    .option('--to-token <token>', 'better RUNFOLD_TO_TOKEN')
    .option('--all', 'every run that the token may see')
    .option('--machine <id>', 'write as this machine instead of this one')
    .option('--world <id>', 'write as this world instead of this one')
    .option('--force', 'take leases from their holders on the server that is copied to (scope resume)')
    .addHelpText(
      'after',
      `${examples(
        'copy --from http://127.0.0.1:8080 --to https://runs.example.com --all',
        'copy fix-login-7f3a --from $OLD --to $NEW',
      )}
RUNFOLD_TOKEN, and the token that a server on this machine left, are used only
for the server of RUNFOLD_URL.
`,
    )
    .action(
      act(async (session, runs: readonly string[] = [], options: CopyCommandOptions) => {
        if (runs.length > 0 === (options.all === true)) throw new UsageError('name runs, or give --all')
        const [from, to] = await Promise.all([
          configOf(session.io, options.from, options.fromToken, 'RUNFOLD_FROM_TOKEN').then(session.connect),
          configOf(session.io, options.to, options.toToken, 'RUNFOLD_TO_TOKEN').then(session.connect),
        ])
        return copyAll(session, { from, to }, options.all ? everyRun(from) : runs, options)
      }),
    )

/** A token is shown to the server it is meant for, and to no other. */
const configOf = async (
  io: Io,
  url: string,
  given: string | undefined,
  variable: string,
): Promise<Config> => {
  const token = given || io.env[variable]
  const usual = await readConfig(io, url)
  if (token) return { url, token: new Redacted(token.trim()) }
  if (url === (io.env.RUNFOLD_URL || DEFAULT_URL) && usual.token) return usual
  throw new RunfoldError('unauthorized', `there is no token for ${url}`, { variable })
}

/** Oldest first, so that what is new meanwhile comes at the end. */
async function* everyRun(client: Client): AsyncGenerator<string> {
  let cursor: string | undefined
  do {
    const page = await client.list({ order: 'asc', limit: 200, ...(cursor !== undefined && { cursor }) })
    for (const { run_id } of page.items) yield run_id
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
}

const copyAll = async (
  session: Session,
  { from, to }: { readonly from: Client; readonly to: Client },
  runs: AsyncIterable<string> | Iterable<string>,
  options: CopyCommandOptions,
): Promise<ExitCode | undefined> => {
  const { limits, features } = await to.capabilities()
  const worker = await workerOf(session.io, options)
  const { signal, json, out, err } = session
  const uploads = features.includes('uploads')
  const force = options.force === true
  const { tried, done, code } = await tryEach(session, runs, {
    work: async (run) => {
      const progress = (start: number, end: number) => startProgress(err, oneLine(run), start, end)
      const copied = await copyRun({ from, to, limits, uploads, worker, run, force, signal, progress })
      await report(session, copied)
      return undefined
    },
    key: 'run_id',
    nameOf: (run) => run,
  })
  if (!json) await out.line(`${done} of ${counted(tried, 'run')} on the other server`)
  return code
}

const report = async ({ json, out }: Session, result: Copied): Promise<void> => {
  if (json) return out.json(result)
  const { run_id, outcome, from, tail } = result
  const what = {
    copied: `copied ${prettyBytes(tail - from)}${from > 0 ? ` behind ${prettyBytes(from)} that were there` : ''}`,
    unchanged: `nothing new, all ${prettyBytes(tail)} are there`,
    ahead: `the other server is ahead at ${prettyBytes(tail)}`,
  }[outcome]
  await out.line(`${oneLine(run_id)}: ${what}`)
}
