import { createClient } from '#client'
import { isRunfoldError, type LeaseAnswer } from '#schema'
import { type Carried, carryOn, givingBack } from '../../daemon/claim/carry-on.ts'
import { startCommand } from '../../daemon/claim/command.ts'
import { nextRun } from '../../daemon/claim/next-run.ts'
import type { PathRule } from '../../daemon/resume/path-map.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { explain } from '../explain.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { type Destination, destinationOf, resumption } from './resumption.ts'
import { tellResumed } from './tell.ts'

export interface ClaimSettings {
  /** The command line. */
  readonly exec: string
  /** The folder of runs. */
  readonly to: string
  readonly capabilities: readonly string[]
  readonly isLoop: boolean
  readonly wait_s: number | undefined
  readonly paths: readonly PathRule[]
}

/** After an interruption: the command's time to end, and as much to send what it has left. */
const LAST_MS = 20_000

/** `runfold claim`: one run after the other, or one alone. */
export const actClaim = async (session: Session, settings: ClaimSettings): Promise<ExitCode> => {
  const { err, signal } = session
  const destination = await destinationOf(session.io, settings.to)
  const asking = {
    client: await session.client(),
    worker: destination.worker,
    capabilities: settings.capabilities,
    wait_s: settings.wait_s,
    now: () => performance.now(),
    signal,
    onOutage: ({ message }: Error) => void err.line(`${oneLine(message)}; asking again`),
  }
  for (;;) {
    const held = await nextRun(asking).catch((error: unknown) => {
      if (signal.aborted && settings.isLoop) return undefined
      throw error
    })
    if (!held) return signal.aborted && settings.isLoop ? EXIT.ok : EXIT.notFound
    const code = await carry(session, settings, destination, held)
    if (!settings.isLoop || signal.aborted) return code
  }
}

const carry = async (
  session: Session,
  { exec, paths }: ClaimSettings,
  destination: Destination,
  held: LeaseAnswer,
): Promise<ExitCode> => {
  const { io, json, out, err } = session
  const { run_id } = held
  // What the command has left is sent after an interruption too, so these requests have an end of their own.
  const requests = new AbortController()
  const late = () => setTimeout(() => requests.abort(session.signal.reason), LAST_MS).unref()
  session.signal.addEventListener('abort', late, { once: true })
  const { url, token } = await session.config()
  const client = createClient({ url, fetch: io.fetch, signal: requests.signal, ...(token && { token }) })
  try {
    const carried = await givingBack(client, held, async () => {
      session.signal.throwIfAborted()
      const parts = await resumption(session, client, run_id, destination, paths)
      const { path } = parts.folder
      return carryOn(
        {
          ...parts,
          signal: requests.signal,
          stop: session.signal,
          onBrought: async (resumed) => {
            if (resumed) await tellResumed(session, resumed)
          },
          start: () => startCommand(exec, path, environmentOf(session, path, held), json),
        },
        held,
      )
    })
    await (json
      ? out.json({ event: 'ended', ...carried })
      : out.line(`${oneLine(run_id)}: ${textOf(carried)}`))
    return carried.exit_code === 0 ? EXIT.ok : EXIT.failed
  } catch (error) {
    if (session.signal.aborted) return EXIT.interrupted
    if (!isRunfoldError(error)) throw error
    const { text, code, problem } = explain(error)
    await (json ? out.json({ event: 'failed', ...problem, run_id }) : err.line(`${oneLine(run_id)}: ${text}`))
    return code
  } finally {
    session.signal.removeEventListener('abort', late)
  }
}

const environmentOf = ({ io }: Session, folder: string, { run_id, epoch, lease }: LeaseAnswer) => ({
  ...io.env,
  RUNFOLD_RUN_ID: run_id,
  RUNFOLD_RUN_FOLDER: folder,
  RUNFOLD_EPOCH: String(epoch),
  RUNFOLD_MACHINE_ID: lease.machine_id,
  RUNFOLD_WORLD_ID: lease.world_id,
})

const textOf = ({ exit_code, tail }: Carried): string => {
  const how = exit_code === null ? 'was ended' : `ended with ${exit_code}`
  return `the command ${how}; ${tail} bytes are on the server, and the run was given back`
}
