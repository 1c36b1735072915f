import type { PathRule } from '../../daemon/resume/path-map.ts'
import { resumeRun } from '../../daemon/resume/resume.ts'
import { takeLease } from '../../daemon/resume/take-lease.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { destinationOf, resumption } from './resumption.ts'
import { tellResumed } from './tell.ts'

export interface ResumeSettings {
  /** The folder of runs. */
  readonly to: string
  readonly force: boolean
  readonly wait_s: number | undefined
  readonly paths: readonly PathRule[]
}

/** `runfold resume`: brings the run, and says what came. */
export const actResume = async (
  session: Session,
  run: string,
  { to, force, wait_s, paths }: ResumeSettings,
): Promise<void> => {
  const { err, signal } = session
  const destination = await destinationOf(session.io, to)
  const client = await session.client()
  const parts = await resumption(session, client, run, destination, paths)
  const take = () =>
    takeLease({
      client,
      run,
      worker: destination.worker,
      force,
      signal,
      now: () => performance.now(),
      onHeld: ({ machine_id, world_id, expires_at }) => {
        const holder = `${machine_id}/${world_id}`
        void err.line(`${oneLine(run)}: ${holder} has it until ${expires_at}; waiting, --force takes it`)
      },
      ...(wait_s !== undefined && { wait_s }),
    })
  await tellResumed(session, await resumeRun({ ...parts, take }))
}
