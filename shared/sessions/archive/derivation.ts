import { digestOf, jsonBytes, loadDigest } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { release, takingTurns } from '../../store/index.ts'
import { HASH_DIGITS } from '../../store/keys.ts'
import type { DerivedPointer, StoredDocument } from '../../store/ports.ts'
import { derivedKeyIn } from '../../store/session-keys.ts'
import type { Derived, SessionFiles } from '../adapter.ts'
import { deriveTranscript } from '../derive.ts'
import { ancestorsIn } from './current.ts'
import { DocumentWriter, isStill, type Prefix } from './document-writer.ts'
import { ancestorFiles } from './files.ts'
import type { SessionParts } from './parts.ts'

/**
 * A state is kept when going on from the one before would parse more again than this, or than that state has bytes. Few small
 * extents have so many, and each of them is a request.
 */
const REPARSED_BYTES = 32 * 1024

/** Which transcript is derived, from what, and where it is kept. */
export interface Task {
  readonly session: SessionKey
  readonly agent: string | undefined
  readonly parser: string
  /** The revision that the files are at least of. */
  readonly revision: number
  readonly files: SessionFiles
  /** What was derived before. */
  readonly before: DerivedPointer | null
  /** Prefix and generation of the keys. */
  readonly under: string
  readonly sweep: number
  /** Whether the document is to be stored, not only measured. */
  readonly store: boolean
  /** Tag of a stored document that is not what it should be. */
  readonly distrusted: string | undefined
}

export interface Made {
  readonly pointer: DerivedPointer
  readonly derived: Derived
}

/** What a derivation may go on from: a state, and where a document is stored, the document it was made with. */
interface Base {
  readonly state: Uint8Array
  readonly stable: StoredDocument | undefined
}

/** Derives one transcript and stores what is to be kept of it; nothing names it yet. */
export async function derive(parts: SessionParts, task: Task): Promise<Made> {
  await loadDigest()
  const base = await baseOf(parts, task)
  const made = (base && (await attempt(parts, task, base))) ?? (await attempt(parts, task, undefined))
  if (made) return made
  throw new RunfoldError('unavailable', 'what was derived could not be stored', { retry_after_s: 1 })
}

async function baseOf(
  parts: SessionParts,
  { before, parser, store, distrusted }: Task,
): Promise<Base | undefined> {
  const { objects } = parts.ports
  if (before?.parser !== parser) return undefined
  if (!store) {
    const state = before.state && (await read(parts, before.state.key))
    return state ? { state, stable: undefined } : undefined
  }
  const { document } = before
  if (!document?.state || document.etag === distrusted) return undefined
  const state = await read(parts, document.state)
  return state && (await isStill(objects, prefixOf(document))) ? { state, stable: document } : undefined
}

const prefixOf = ({ key, etag, bytes, stable_bytes }: StoredDocument): Prefix => ({
  key,
  etag,
  length: bytes,
  bytes: stable_bytes,
})

/** Undefined where it is gone or cut: a derivation can do without. */
async function read({ ports: { objects } }: SessionParts, key: string): Promise<Uint8Array | undefined> {
  return objects.get(key).catch((error: unknown) => {
    if (isRunfoldError(error, 'internal')) return undefined
    throw error
  })
}

/** Undefined where what it went on from does not hold together with what it made, so that nothing may be kept. */
async function attempt(parts: SessionParts, task: Task, base: Base | undefined): Promise<Made | undefined> {
  const { session, agent, files, store, under, sweep } = task
  const derivation = await deriveTranscript({
    harness: session.harness,
    id: session.id,
    agent,
    files,
    ancestor: (id) => ancestorFiles(parts, { ...session, id }),
    state: base?.state,
  })
  const stable = derivation.reused.bytes > 0 ? base?.stable : undefined
  const writer = store
    ? new DocumentWriter(parts.ports.objects, { under, sweep }, stable && prefixOf(stable))
    : undefined
  try {
    const turn = takingTurns()
    for await (const chunk of derivation.document) {
      if (writer) await writer.add(chunk)
      else release(chunk)
      await turn()
    }
    const derived = derivation.outcome()
    parts.observe?.(session, derived.counters)
    if (!addsUp(derived, derivation.reused.bytes, store ? stable : undefined)) return undefined
    return await keep(parts, task, derived, derivation.reused.bytes, writer)
  } finally {
    await writer?.abandon()
  }
}

function addsUp(
  { card, counters, bytes }: Derived,
  reused: number,
  stable: StoredDocument | undefined,
): boolean {
  if (counters.messages_reused + counters.messages_parsed !== card.message_count || reused > bytes)
    return false
  return !stable || (reused === stable.stable_bytes && reused <= stable.bytes)
}

async function keep(
  parts: SessionParts,
  task: Task,
  derived: Derived,
  reused: number,
  writer: DocumentWriter | undefined,
): Promise<Made | undefined> {
  const { parser, revision, before } = task
  const { bytes, sha256, card } = derived
  const inputs = digestOf(jsonBytes(derived.inputs))
  const kept = writer && isKept(task, derived) ? before?.document : undefined
  const isStored = writer !== undefined && !kept
  const state = await keepState(parts, task, derived, inputs, { reused, isStored })
  let document = kept ?? before?.document ?? null
  if (isStored) {
    const key = derivedKeyIn(task.under, {
      kind: 'document',
      sweep: task.sweep,
      parser,
      inputs,
      more: `${reused}`,
    })
    const etag = await writer.finish(key, bytes)
    if (etag === undefined) return undefined
    const { stable_bytes, stable_messages } = derived
    document = { key, bytes, sha256, etag, stable_bytes, stable_messages, state: state?.key ?? null }
  }
  const ancestors = ancestorsIn(derived.inputs)
  const pointer = {
    parser,
    revision,
    bytes,
    sha256,
    problems: card.problem_count,
    ancestors,
    state,
    document,
  }
  return { pointer, derived }
}

/** Whether the document that is stored already is the very one that was made. */
function isKept({ before, distrusted }: Task, { sha256 }: Derived): boolean {
  return before?.document?.sha256 === sha256 && before.document.etag !== distrusted
}

async function keepState(
  { ports: { objects } }: SessionParts,
  { before, parser, under, sweep }: Task,
  { state, state_offset, transcript_bytes }: Derived,
  inputs: string,
  { reused, isStored }: { reused: number; isStored: boolean },
): Promise<DerivedPointer['state']> {
  const old = before?.parser === parser && reused > 0 ? before.state : null
  const again = state_offset - (old?.offset ?? 0)
  const isOldEnough = old !== null && again >= 0 && again <= Math.max(REPARSED_BYTES, old.bytes)
  const looseBehind = (offset: number) => ({ loose: transcript_bytes - offset })
  if (!isStored && isOldEnough) return { ...old, ...looseBehind(old.offset) }
  if (state === undefined) return null
  const more = digestOf(state).slice(0, HASH_DIGITS)
  const key = derivedKeyIn(under, { kind: 'state', sweep, parser, inputs, more })
  await objects.put(key, [state], {})
  return { key, offset: state_offset, bytes: state.length, ...looseBehind(state_offset) }
}
