import { resolve } from 'node:path'
import prettyBytes from 'pretty-bytes'
import { counted } from '../../counted.ts'
import { countingNumber, examples, runName, type Verb, wholeNumber } from '../command.ts'
import { tryEach } from '../each.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { startProgress } from '../progress.ts'
import { findArchives } from '../push/find-archives.ts'
import { type Pushed, pushFile } from '../push/push-file.ts'
import { runIdOf } from '../push/survey.ts'
import { ofFile } from '../reading/of-file.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'
import { type WorkerOptions, workerOf } from '../worker.ts'

interface PushCommandOptions extends WorkerOptions {
  readonly run?: string
  readonly ttl?: number
  readonly wait?: number
  readonly force?: boolean
  readonly keepLease?: boolean
}

export const push: Verb = (program, act) =>
  program
    .command('push <file|folder>')
    .summary('send an archive, or what is new of it, to the server')
    .description(
      'Sends a .lvr file to the server, or what is new of it since the last push. Of a folder of runs it sends the run.lvr ' +
        'of each run folder and every other .lvr file, each as the run that its Header names. What the server has is compared ' +
        'first: where it differs, nothing is sent.',
    )
    .option('--run <id>', 'the run id; default: that of the archive’s Header, else the file’s name', runName)
    .option('--machine <id>', 'push as this machine instead of this one')
    .option('--world <id>', 'push as this world instead of this one')
    .option('--ttl <seconds>', 'how long the lease lasts without an append', countingNumber)
    .option('--wait <seconds>', 'wait for the lease, 20 at most', wholeNumber)
    .option('--force', 'take the lease from its holder (scope resume)')
    .option('--keep-lease', 'do not give the lease back at the end')
    .addHelpText(
      'after',
      examples('push run.lvr', 'push ~/agent/runs', 'push copy.lvr --run fix-login-copy --json'),
    )
    .action(
      act(async (session, target: string, options: PushCommandOptions) => {
        const archives = await findArchives(resolve(session.io.cwd, target))
        if (archives.length > 1 && options.run)
          throw new UsageError('--run names one run, but there are several archives')
        return archives.length === 1 && archives[0]
          ? ofFile(archives[0], pushOne(session, archives[0], options))
          : pushAll(session, archives, options)
      }),
    )

const pushOne = async (
  session: Session,
  path: string,
  options: PushCommandOptions,
): Promise<ExitCode | undefined> => {
  const run = options.run ?? (await runIdOf(path))
  if (run === undefined)
    throw new UsageError(`neither the Header nor the name of ${path} is a run id; give --run`)
  const client = await session.client()
  const { limits, features } = await client.capabilities()
  const result = await pushFile({
    client,
    limits,
    uploads: features.includes('uploads'),
    worker: await workerOf(session.io, options),
    run,
    path,
    signal: session.signal,
    progress: (from, end) => startProgress(session.err, oneLine(run), from, end),
    ...(options.force && { force: true }),
    ...(options.keepLease && { keepLease: true }),
    ...(options.wait !== undefined && { wait_s: options.wait }),
    ...(options.ttl !== undefined && { ttl_s: options.ttl }),
  })
  await report(session, result)
  return result.torn ? EXIT.torn : undefined
}

const pushAll = async (
  session: Session,
  archives: readonly string[],
  options: PushCommandOptions,
): Promise<ExitCode | undefined> => {
  const { tried, done, code } = await tryEach(session, archives, {
    work: (path) => pushOne(session, path, options),
    key: 'file',
    nameOf: (path) => path,
  })
  if (!session.json) await session.out.line(`${done} of ${counted(tried, 'run')} on the server`)
  return code
}

const report = async ({ json, out, err }: Session, result: Pushed): Promise<void> => {
  if (json) return out.json({ ...result, torn: result.torn ?? null })
  const { run_id, outcome, from, tail, torn } = result
  const what = {
    pushed: `pushed ${prettyBytes(tail - from)}${from > 0 ? ` behind ${prettyBytes(from)} that were there` : ''}`,
    unchanged: `nothing new, all ${prettyBytes(tail)} are there`,
    ahead: `the server is ahead at ${prettyBytes(tail)}, the file is a beginning of it`,
  }[outcome]
  await out.line(`${oneLine(run_id)}: ${what}`)
  if (torn) {
    const { offset, length, reason } = torn
    await err.line(`${oneLine(run_id)}: ${counted(length, 'torn byte')} at ${offset} not sent (${reason})`)
  }
}
