import { jsonText } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import type { DerivedPointer, FileItem, SessionHead } from '../../store/ports.ts'
import { derivedPrefix } from '../../store/session-keys.ts'
import { sessionName } from '../../store/session-place.ts'
import { deriveEntry } from '../entry.ts'
import { parserOf } from '../harnesses.ts'
import { hasDocument, isCurrent } from './current.ts'
import { derive, type Made, type Task } from './derivation.ts'
import { boundedEntry } from './entry.ts'
import { currentFiles, filesToDerive, transcriptOf } from './files.ts'
import { livingHead } from './head.ts'
import { changeFile, changeHead, successor } from './items.ts'
import type { SessionParts } from './parts.ts'

/** How often a derivation may find its session changed under it before it is left to another time. */
const MAX_TRIES = 5
/** A lagging document is made anew when what is new reaches this part of it. */
const LAG = 8

export interface Wanted {
  /** `entry` leaves the document as it is until enough is new; `document` has it stored. */
  readonly want: 'entry' | 'document'
  /** Tag of a stored document that is not what it should be. */
  readonly distrusted?: string
  /** Nothing that was derived before is trusted, nor gone on from. */
  readonly anew?: true
}

/**
 * Brings the derived form of the session's own transcript up to date: document, state and entry change by one conditional update
 * of the head, after the objects are durable. Whoever loses the race drops its work.
 */
export function deriveSession(
  parts: SessionParts,
  session: SessionKey,
  wanted: Wanted,
): Promise<SessionHead> {
  return inTurn(parts, session, '', async () => {
    const head = await livingHead(parts, session)
    const { life, revision, sweep } = head
    const parser = parserOf(session.harness)
    const isNow = head.entry !== null && (await isCurrent(parts, session, head, head.derived, parser))
    if (isNow && isEnough(head.derived, wanted)) return head
    const found = await currentFiles(parts, session, life)
    const made = await derive(parts, {
      ...{ session, agent: undefined, parser, revision, sweep },
      files: filesToDerive(parts, session, life, found),
      before: wanted.anew ? null : head.derived,
      under: derivedPrefix(session, life),
      store: wanted.want === 'document' || isLagging(head),
      distrusted: wanted.distrusted,
    })
    const raw_bytes = found.reduce((sum, { file }) => sum + file.tail, 0)
    return commitSession(parts, session, head, made, { file_count: found.length, raw_bytes })
  })
}

/** The same of a sub-agent's transcript, which has no entry; its file keeps what is known of its document. */
export function deriveAgent(
  parts: SessionParts,
  session: SessionKey,
  agent: string,
  wanted: Wanted,
): Promise<DerivedPointer> {
  return inTurn(parts, session, agent, async () => {
    const head = await livingHead(parts, session)
    const { life, revision } = head
    const found = await currentFiles(parts, session, life)
    const own = transcriptOf(session, found, agent)
    if (!own) throw new RunfoldError('not_found', 'the session has no such sub-agent')
    const { path, file } = own
    const parser = parserOf(session.harness)
    const isNow = await isCurrent(parts, session, head, file.derived, parser)
    if (isNow && isEnough(file.derived, wanted)) return file.derived as DerivedPointer
    const task: Task = {
      ...{ session, agent, parser, revision, sweep: file.sweep },
      files: filesToDerive(parts, session, life, found),
      before: wanted.anew ? null : file.derived,
      under: derivedPrefix(session, life, path),
      store: true,
      distrusted: wanted.distrusted,
    }
    const { pointer } = await derive(parts, task)
    const kept = await changeFile(parts, session, { life, path }, (now) =>
      now && now.sweep === file.sweep && !isBehind(pointer, now.derived)
        ? successor<FileItem>(now, { derived: pointer })
        : undefined,
    )
    return kept ? pointer : undefined
  })
}

function isEnough(pointer: DerivedPointer | null, { want, distrusted, anew }: Wanted): boolean {
  return !anew && pointer !== null && (want === 'entry' || hasDocument(pointer, distrusted))
}

function isLagging({ derived, pending }: SessionHead): boolean {
  if (!derived?.document) return true
  const { bytes } = derived.document
  return derived.bytes - bytes + pending >= bytes / LAG
}

/** One at a time within this process, and again where someone else was quicker. */
async function inTurn<T>(
  { turns }: SessionParts,
  session: SessionKey,
  agent: string,
  task: () => Promise<T | undefined>,
): Promise<T> {
  return turns.take(`${session.tenant}/${sessionName(session)}\n${agent}`, async () => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const done = await task()
      if (done !== undefined) return done
    }
    throw new RunfoldError('slow_down', 'the session changes too often to be derived now', {
      retry_after_s: 1,
    })
  })
}

/** Undefined where it was not made, since the head has gone on in a way that matters. */
function commitSession(
  parts: SessionParts,
  session: SessionKey,
  read: SessionHead,
  { pointer, derived }: Made,
  counts: Pick<SessionHead, 'file_count' | 'raw_bytes'>,
): Promise<SessionHead | undefined> {
  const entry = jsonText(boundedEntry(deriveEntry(derived)))
  const updated_at = Date.parse(derived.card.updated_at ?? '')
  return changeHead(parts, session, (head, now) => {
    if (!head?.alive || head.life !== read.life || head.sweep !== read.sweep) return undefined
    if (isBehind(pointer, head.derived)) return undefined
    return successor(head, {
      derived: pointer,
      entry,
      ...counts,
      pending: head.revision === pointer.revision ? 0 : head.pending,
      listed_at: Number.isNaN(updated_at) ? head.archived_at : Math.max(0, updated_at),
      changed_at: now,
    })
  })
}

/**
 * Whether `there` must not be replaced: it is of a later revision, or says the same and has its document stored. At one revision
 * they can differ by an ancestor; whoever reads next finds out which of them is right.
 */
function isBehind(pointer: DerivedPointer, there: DerivedPointer | null): boolean {
  if (!there || there.parser !== pointer.parser) return false
  if (there.revision !== pointer.revision) return there.revision > pointer.revision
  return there.sha256 === pointer.sha256 && hasDocument(there) && !hasDocument(pointer)
}
