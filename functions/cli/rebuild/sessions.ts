import prettyBytes from 'pretty-bytes'
import type { SessionKey } from '#schema'
import type { FailedSession, RebuiltSession, Rederived } from '#sessions/archive'
import { counted } from '../../counted.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { explain } from '../explain.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'

// What `rebuild` has to say of sessions of coding agents.

/** Tells of sessions that came back from their objects. */
export const tellRebuilt = async (
  session: Session,
  sessions: AsyncIterable<RebuiltSession | FailedSession>,
): Promise<ExitCode | undefined> => {
  const counts = { rebuilt: 0, deleted: 0, known: 0, failed: 0 }
  let code: ExitCode | undefined
  for await (const found of sessions) {
    session.signal.throwIfAborted()
    counts[found.outcome]++
    if (found.outcome === 'failed') {
      code = EXIT.failed
      await tellFailure(session, found)
      continue
    }
    if (found.damaged.length > 0) code ??= EXIT.damaged
    await tellOne(session, found)
  }
  const { rebuilt, deleted, known, failed } = counts
  if (!session.json && rebuilt + deleted + known + failed > 0) {
    await session.out.line(
      `${counted(rebuilt, 'session')} given back, ${deleted} deleted, ${known} known already, ${failed} failed`,
    )
  }
  return code
}

const tellOne = async ({ out, err, json }: Session, found: RebuiltSession): Promise<void> => {
  const { session, ...more } = found
  if (json) return out.json({ ...session, ...more })
  const { outcome, files, bytes, damaged } = more
  if (outcome === 'rebuilt')
    await out.line(`${nameOf(session)}: ${counted(files, 'file')}, ${prettyBytes(bytes)}`)
  for (const { path, generation, tail } of damaged) {
    await err.line(
      `${nameOf(session)}: what followed byte ${tail} of generation ${generation} of ${oneLine(path)} cannot be told`,
    )
  }
}

/** Tells of sessions whose documents were made anew. */
export const tellRederived = async (
  session: Session,
  sessions: AsyncIterable<Rederived>,
): Promise<ExitCode | undefined> => {
  const { out, json, signal } = session
  const counts = { derived: 0, failed: 0 }
  for await (const found of sessions) {
    signal.throwIfAborted()
    counts[found.outcome]++
    if (found.outcome === 'failed') {
      await tellFailure(session, found)
      continue
    }
    const { session: name, documents, bytes } = found
    if (json) await out.json({ ...name, outcome: found.outcome, documents, bytes })
    else await out.line(`${nameOf(name)}: ${counted(documents, 'document')}, ${prettyBytes(bytes)}`)
  }
  if (!json) await out.line(`${counted(counts.derived, 'session')} derived anew, ${counts.failed} failed`)
  return counts.failed > 0 ? EXIT.failed : undefined
}

const tellFailure = (
  { out, err, json }: Session,
  { session, error }: { readonly session: SessionKey; readonly error: unknown },
): Promise<void> =>
  json
    ? out.json({ ...session, outcome: 'failed', error: explain(error).problem })
    : err.line(`${nameOf(session)}: ${explain(error).text}`)

const nameOf = ({ tenant, machine, harness, id }: SessionKey): string =>
  [tenant, machine, harness, id].map(oneLine).join('/')
