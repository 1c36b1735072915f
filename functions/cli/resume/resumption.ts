import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Client, RunTail } from '#client'
import type { Worker } from '#schema'
import { identityOf, stateFolderOf } from '../../daemon/identity.ts'
import type { PathRule } from '../../daemon/resume/path-map.ts'
import type { ResumeOptions } from '../../daemon/resume/resume.ts'
import { runFolder } from '../../daemon/resume/run-folder.ts'
import type { Io } from '../io.ts'
import { startProgress } from '../progress.ts'
import { pullFile } from '../pull/pull-file.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

/** Where runs are brought to, and as whom: whoever watches the same folder is the same holder of their leases. */
export interface Destination {
  readonly runs: string
  readonly worker: Worker
}

/** Makes the folder where there is none. */
export const destinationOf = async (io: Io, folder: string): Promise<Destination> => {
  const runs = resolve(io.cwd, folder.replace(/^~(?=\/|$)/, io.env.HOME || homedir()))
  await mkdir(runs, { recursive: true, mode: 0o700 }).catch((cause) => {
    throw new UsageError(`cannot make ${runs}: ${cause.message}`, { cause })
  })
  return { runs, worker: await identityOf(runs, await stateFolderOf(runs, io.env)) }
}

/** All that bringing a run needs but the lease. */
export const resumption = async (
  session: Session,
  client: Client,
  run: string,
  { runs, worker }: Destination,
  paths: readonly PathRule[],
): Promise<Omit<ResumeOptions, 'take'>> => {
  const { limits, features } = await client.capabilities()
  const progress = (from: number, end: number) => startProgress(session.err, oneLine(run), from, end)
  return {
    client,
    limits,
    uploads: features.includes('uploads'),
    run,
    worker,
    folder: runFolder(join(runs, run)),
    paths,
    fetch: (path: string, promised: RunTail) => pullFile({ client, run, path, promised, progress }),
    now: Date.now,
    signal: session.signal,
  }
}
