import { countingNumber, examples, type Verb, wholeNumber } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { type Session, warnOfPlainHttp } from '../session.ts'
import { watchSessions } from '../sync/watch.ts'
import { UsageError } from '../usage-error.ts'
import { DEFAULT_FOLDER, runsFolder } from '../watch/runs-folder.ts'
import { watchTeller } from '../watch/tell.ts'

interface WatchCommandOptions {
  readonly sessions?: boolean
  readonly once?: boolean
  readonly ttl: number
  readonly hold: number
}

export const watch: Verb = (program, act) =>
  program
    .command('watch [folder]')
    .summary('keep the server up to date with a folder of runs')
    .description(
      'Sends what daemons append to the archives of a folder, <run_id>/run.lvr or <run_id>.lvr, as soon as it is there, and ' +
        'holds the leases of the runs that are being written. Only whole frames are sent. A file that is cut, replaced or ' +
        'changed where it was sent stops its run with a report; so does another owner. Without network everything waits in ' +
        'the files. Ctrl-C or SIGTERM sends what is there and gives the leases back.',
    )
    .option('--once', 'send what is there now, then end')
    .option('--sessions', 'archive the sessions of coding agents, too; alone when no folder is named')
    .option('--ttl <seconds>', 'how long a lease lasts without an append', countingNumber, 60)
    .option(
      '--hold <minutes>',
      'keep the lease of an unfinished run so long after it last grew',
      wholeNumber,
      60,
    )
    .addHelpText(
      'after',
      `\nThe folder is ${DEFAULT_FOLDER} when none is given. Writes to a terminal as it\ngoes, elsewhere a JSON value a line.\n${examples(
        'watch',
        'watch ~/agent/runs --once',
        'watch --sessions',
        'watch /srv/agents/runs --url https://runfold.example --json',
      )}`,
    )
    .action(
      act(async (session, folder: string | undefined, options: WatchCommandOptions) => {
        if (!options.sessions) return watchRuns(session, folder, options)
        if (options.once) throw new UsageError('to archive sessions once, use: runfold sync')
        if (folder === undefined) return watchSessions(session)
        const codes = await Promise.all([watchRuns(session, folder, options), watchSessions(session)])
        return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok
      }),
    )

const watchRuns = async (
  session: Session,
  folder: string | undefined,
  { once, ttl, hold }: WatchCommandOptions,
): Promise<ExitCode> => {
  const { io, signal } = session
  const { openWatcher } = await import('../../daemon/watch/open-watcher.ts')
  const runs = await runsFolder(io, folder)
  const { url, token } = await session.config()
  await warnOfPlainHttp(session.err, { url, token })
  const requests = new AbortController()
  const teller = watchTeller(session)
  using watcher = await openWatcher({
    folder: runs,
    url,
    token,
    env: io.env,
    fetch: io.fetch,
    ...(io.retry && { retry: io.retry }),
    policy: { ttl_s: ttl, hold_s: hold * 60 },
    report: teller.report,
    signal: requests.signal,
  })
  if (!watcher) throw new UsageError(`another process watches ${runs}`)
  if (!once) {
    // The last sending has an end too, or no service manager would believe in a good one.
    signal.addEventListener('abort', () => setTimeout(() => requests.abort(), LAST_MS).unref(), {
      once: true,
    })
    await watcher.watch(signal)
    return EXIT.ok
  }
  signal.addEventListener('abort', () => requests.abort(signal.reason), { once: true })
  await watcher.once()
  return teller.exitCode()
}

const LAST_MS = 10_000
