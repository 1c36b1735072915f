import process from 'node:process'
import { inspect as inspectValue } from 'node:util'
import { Command, CommanderError } from 'commander'
import about from '../../package.json' with { type: 'json' }
import type { Act, Verb } from './command.ts'
import { claim } from './commands/claim.ts'
import { copy } from './commands/copy.ts'
import { demo } from './commands/demo.ts'
import { diff } from './commands/diff.ts'
import { doctor } from './commands/doctor.ts'
import { exitCodes } from './commands/exit-codes.ts'
import { fold } from './commands/fold.ts'
import { fork } from './commands/fork.ts'
import { help } from './commands/help.ts'
import { inspect } from './commands/inspect.ts'
import { lease } from './commands/lease.ts'
import { ls } from './commands/ls.ts'
import { pull } from './commands/pull.ts'
import { push } from './commands/push.ts'
import { rebuild } from './commands/rebuild.ts'
import { records } from './commands/records.ts'
import { release } from './commands/release.ts'
import { replay } from './commands/replay.ts'
import { resume } from './commands/resume.ts'
import { rm } from './commands/rm.ts'
import { serve } from './commands/serve.ts'
import { sessions } from './commands/sessions.ts'
import { show } from './commands/show.ts'
import { status } from './commands/status.ts'
import { sync } from './commands/sync.ts'
import { tail } from './commands/tail.ts'
import { token } from './commands/token.ts'
import { usage } from './commands/usage.ts'
import { verify } from './commands/verify.ts'
import { watch } from './commands/watch.ts'
import { DEFAULT_DATA, DEFAULT_URL } from './config.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { explain } from './explain.ts'
import { BrokenPipe, type Io, OutputLost, processIo } from './io.ts'
import { createOutput } from './output.ts'
import { createSession, type GlobalOptions } from './session.ts'

/** In the order of the help text: a server, bytes in and out, looking, owning. */
const VERBS: readonly Verb[] = [
  serve,
  demo,
  push,
  watch,
  status,
  sync,
  sessions,
  doctor,
  release,
  resume,
  claim,
  pull,
  copy,
  ls,
  show,
  fold,
  replay,
  records,
  tail,
  diff,
  usage,
  verify,
  inspect,
  fork,
  lease,
  token,
  rm,
  rebuild,
  help,
  exitCodes,
]

/** Runs one command line and gives the exit code. Nothing that is expected to go wrong ends in a stack trace. */
export const main = async (args: readonly string[], io: Io): Promise<ExitCode> => {
  let code: ExitCode = EXIT.ok
  const json = args.includes('--json')
  const program = createProgram(io, json)
  const act: Act =
    (work) =>
    async (...given) => {
      code = (await work(createSession(io, program.opts<GlobalOptions>()), ...given)) ?? EXIT.ok
    }
  for (const verb of VERBS) verb(program, act)
  inheritSettings(program)
  try {
    await program.parseAsync(args, { from: 'user' })
    if (io.signal.reason instanceof OutputLost) throw io.signal.reason
    return code
  } catch (error) {
    return endedBy(error, io, json)
  }
}

const createProgram = (io: Io, json: boolean): Command =>
  new Command('runfold')
    .description('Keeps the journals of AI-agent runs: append, fold, replay, take over.')
    .version(about.version, '-V, --version', 'print the version')
    .option('--url <url>', `the server; default RUNFOLD_URL or ${DEFAULT_URL}`)
    .option('--json', 'print JSON with every digit, a value or an item a line; errors too')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, helpWidth: Math.min(io.stdout.columns, 100) })
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      // With --json the error is said once, by endedBy.
      outputError: (text, write) => (json ? undefined : write(text.replace(/^error: /, 'runfold: '))),
    })
    .addHelpText(
      'after',
      `
Where <run|file> is an existing file, has a slash or ends in .lvr, no server is
needed.

Environment:
  RUNFOLD_URL    the server; default ${DEFAULT_URL}
  RUNFOLD_TOKEN  the token; that of a server on this machine is found in its
                 data folder
  RUNFOLD_DATA   the data folder of a server on this machine; default
                 ${DEFAULT_DATA}
  RUNFOLD_DEBUG  1 shows where an unexpected error came from
  NO_COLOR       no colours

\`runfold help <command>\` explains a command, \`runfold help exit-codes\` the exit
codes.`,
    )

/** Commander hands settings down only to commands made after them, and not to commands of commands. */
const inheritSettings = (command: Command): void => {
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    inheritSettings(child)
  }
}

const endedBy = async (error: unknown, io: Io, json: boolean): Promise<ExitCode> => {
  if (io.signal.reason instanceof BrokenPipe) return EXIT.ok
  const { reason } = io.signal
  if (io.signal.aborted && !(reason instanceof OutputLost)) return EXIT.interrupted
  const isSaid = error instanceof CommanderError && (!json || /^commander\.(help|version)/.test(error.code))
  // Commander has printed its own text already, also for --help and --version.
  if (isSaid) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  const { text, hint, code, problem } = explain(reason instanceof OutputLost ? reason : error)
  const err = createOutput(io.stderr, io.env)
  if (json) await err.json(problem)
  else {
    await err.line(`runfold: ${text}`)
    if (hint) await err.line(`  ${hint}`)
  }
  if (io.env.RUNFOLD_DEBUG === '1') await err.text(`${inspectValue(error)}\n`)
  return code
}

/** The program itself; `functions/cli/runfold.js` calls it too. */
export const run = async (): Promise<void> => {
  process.exitCode = await main(process.argv.slice(2), processIo())
}

if (import.meta.main) await run()
