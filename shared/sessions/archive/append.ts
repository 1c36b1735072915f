import { digestOf, EMPTY_DIGEST, extendDigest, loadDigest } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { pickMerge, piecesOf } from '../../store/index.ts'
import { extentKey, HASH_DIGITS } from '../../store/keys.ts'
import type { FileItem, FilePlace, SessionHead } from '../../store/ports.ts'
import { extended } from '../../store/replay.ts'
import { generationPrefix } from '../../store/session-keys.ts'
import { extentFacts } from './facts.ts'
import { announced, begun, closing, type FileAppend, grown, judge, NO_FILE, positionOf } from './file.ts'
import { beginLife, tellOfFile } from './head.ts'
import { MAX_ATTEMPTS, type SessionParts } from './parts.ts'
import { openGeneration } from './raw.ts'

// Look, store, commit, tell, as for runs (store/commit.ts); on any doubt look again and judge anew. There is no lease: position
// and content decide. The item's version fences a stalled writer, and `sweep` in its key says whether its object still stands.

/** Commits of unknown outcome after which the client is asked to come again. */
const MAX_UNKNOWN = 3

export interface Appended {
  readonly tail: number
  readonly digest: string
  readonly generation: number
  readonly replayed: boolean
  /** Told of the commit. */
  readonly head: SessionHead
}

/** Appends to a file's generation, begins the next one, or finds that it was done before (P3). */
export async function appendFile(
  parts: SessionParts,
  session: SessionKey,
  request: FileAppend,
): Promise<Appended> {
  const { limits, ports } = parts
  const { path, bytes } = request
  if (bytes.length > limits.max_batch_bytes) {
    throw new RunfoldError('too_large', `a batch of ${bytes.length} bytes`, { ...limits })
  }
  await loadDigest()
  const writer = new Writer(parts, session, request)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const seen = await ports.sessions.head(session)
    const file = (seen?.alive && (await ports.sessions.file(session, { life: seen.life, path }))) || NO_FILE
    const judgement = judge(file, request)
    const head = seen?.alive ? seen : await beginLife(parts, session)
    if (!head) continue // someone else has begun it
    const place = { life: head.life, path }
    if (judgement === 'stored') {
      const found = await replayed(parts, session, place, file, request)
      const told = await tellOfFile(parts, session, place.life, { last_at: file.last_at, bytes: 0 })
      if (told) return { ...found, replayed: true, head: told }
      continue
    }
    const after = await writer.write(place, file, judgement)
    if (!after) continue
    const last_at = after.last_at
    const merging = pickMerge(piecesOf(after.extents)) !== undefined
    const told = await tellOfFile(parts, session, place.life, {
      last_at,
      bytes: Math.max(1, bytes.length),
      merging,
    })
    if (told) return { ...positionOf(after), replayed: false, head: told }
  }
  throw new RunfoldError('slow_down', 'too many write to this session at once', { retry_after_s: 1 })
}

/** One append, as often as it has to be tried. */
class Writer {
  readonly #parts: SessionParts
  readonly #session: SessionKey
  readonly #request: FileAppend
  readonly #hash: string
  #stored: string | undefined
  #unknown = 0

  constructor(parts: SessionParts, session: SessionKey, request: FileAppend) {
    this.#parts = parts
    this.#session = session
    this.#request = request
    this.#hash = digestOf(request.bytes).slice(0, HASH_DIGITS)
  }

  /** Undefined when someone was quicker, or when nobody knows. */
  async write(place: FilePlace, seen: FileItem, how: 'begin' | 'append'): Promise<FileItem | undefined> {
    const { sessions } = this.#parts.ports
    const { offset, bytes } = this.#request
    const length = bytes.length
    const file = seen.version === 0 && length > 0 ? announced(seen) : seen
    if (file !== seen && !(await this.#put(place, file))) return undefined
    await this.#store(place, file, how === 'begin' ? EMPTY_DIGEST : file.digest)
    const digest = await this.#digest(place, file, how)
    const added = { offset, length, hash: this.#hash, ...digest }
    if (how === 'begin' && file.generation > 0) await sessions.putClosed(this.#session, place, closing(file))
    const next = (how === 'begin' ? begun : grown)(file, added, this.#parts.clock.now())
    return (await this.#put(place, next)) ? next : undefined
  }

  async #store(place: FilePlace, { sweep }: FileItem, before: string): Promise<void> {
    const { generation, offset, bytes } = this.#request
    const extent = { length: bytes.length, hash: this.#hash, sweep }
    const key = extentKey(generationPrefix(this.#session, place, generation), offset, extent)
    if (bytes.length === 0 || key === this.#stored) return
    await this.#parts.ports.objects.put(key, [bytes], extentFacts(this.#session, place.path, before))
    this.#stored = key
  }

  /** Continued from the saved state; one of another version of this program is made anew from the file. */
  async #digest(place: FilePlace, file: FileItem, how: 'begin' | 'append') {
    const { bytes } = this.#request
    if (how === 'begin') return extended(null, [bytes])
    const continued = extendDigest(file.hash_state, [bytes])
    if (continued) return continued
    let state: string | null = null
    const { bytes: read } = openGeneration(this.#parts, this.#session, place, file)
    for await (const chunk of read(0, file.tail)) state = extended(state, [chunk]).state
    return extended(state, [bytes])
  }

  async #put(place: FilePlace, file: FileItem): Promise<boolean> {
    try {
      return await this.#parts.ports.sessions.putFile(this.#session, place, file)
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable') || ++this.#unknown > MAX_UNKNOWN) throw error
      return false
    }
  }
}

/**
 * The original answer to bytes that are stored: as of their end, or of the tail where none were sent.
 *
 * @throws offset_conflict where they differ, overlap where they are equal and go on past the tail
 */
async function replayed(
  parts: SessionParts,
  session: SessionKey,
  place: FilePlace,
  file: FileItem,
  { offset, bytes }: FileAppend,
) {
  const position = positionOf(file)
  const end = offset + bytes.length
  const { bytes: read } = openGeneration(parts, session, place, file)
  let at = offset
  for await (const chunk of read(offset, Math.min(end, file.tail))) {
    if (!isEqual(chunk, bytes.subarray(at - offset, at - offset + chunk.length))) {
      const detail = `other bytes are stored at offset ${offset}; the file ends at ${file.tail}`
      throw new RunfoldError('offset_conflict', detail, position)
    }
    at += chunk.length
  }
  if (end > file.tail) {
    const detail = `the bytes ${offset} to ${file.tail} are stored already, the rest is not`
    throw new RunfoldError('overlap', detail, position)
  }
  if (end === file.tail || bytes.length === 0) return position
  let digest = extended(null, [])
  for await (const chunk of read(0, end)) digest = extended(digest.state, [chunk])
  return { ...position, tail: end, digest: digest.digest }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
