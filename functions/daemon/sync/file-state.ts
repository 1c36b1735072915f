import { EMPTY_DIGEST, extendDigest } from '#codec'
import { type Identity, isSameIdentity, type SourceFile } from './source-file.ts'

// What is remembered of a source file (SESSIONS.md 5), and how a pass decides by it whether the file only grew. Losing it
// costs a re-read and a question, never data.

export interface FileState {
  /** As it was when everything below was true of it. */
  readonly identity: Identity
  readonly generation: number
  /** After the last LF that was shipped; of a file without lines, `shipped`. */
  readonly cursor: number
  /** Bytes the server has. */
  readonly shipped: number
  /** SHA-256 of bytes 0..shipped, and the hash state to go on from. */
  readonly digest: string
  readonly hash: string | null
  /** SHA-256 of the first 4 KiB (or fewer, where fewer were shipped), and of the 64 KiB before the cursor. */
  readonly start: string
  readonly probe: string
  /** The file's size when the whole prefix was last hashed. */
  readonly checked_size: number
  /** SHA-256 of cursor..shipped. */
  readonly loose: string
}

const START_BYTES = 4096
const PROBE_BYTES = 65_536

/** Bytes the server is known to have of a generation. */
export type Shipped = Pick<
  FileState,
  'generation' | 'shipped' | 'digest' | 'hash' | 'cursor' | 'checked_size'
>

export const nothingShipped = (generation: number): Shipped => ({
  generation,
  shipped: 0,
  digest: EMPTY_DIGEST,
  hash: null,
  cursor: 0,
  checked_size: 0,
})

/** Whether the file still begins with what was shipped; reads no more of it than the change asks for. */
export const stillBegins = async (file: SourceFile, state: FileState): Promise<Shipped | undefined> => {
  const { identity, shipped } = state
  if (file.size < shipped) return undefined
  const now = file.identity
  if (isSameIdentity(now, identity)) return state // only its loose end was not sent
  const isSuspect =
    now.dev !== identity.dev ||
    now.ino !== identity.ino ||
    now.size <= identity.size ||
    BigInt(now.mtime_ns) < BigInt(identity.mtime_ns)
  if (isSuspect || file.size >= 2 * state.checked_size) return wholePrefix(file, state)
  const isSame =
    (await digestOfRange(file, 0, Math.min(START_BYTES, shipped))) === state.start &&
    (await probeOf(file, state.cursor)) === state.probe &&
    (await digestOfRange(file, state.cursor, shipped)) === state.loose
  return isSame ? state : undefined
}

const wholePrefix = async (file: SourceFile, state: FileState): Promise<Shipped | undefined> => {
  const { digest } = await hashTo(file, nothingShipped(state.generation), state.shipped)
  return digest === state.digest ? { ...state, checked_size: file.size } : undefined
}

/** Hashes on from what is known up to `end`. Where the saved state cannot be read, from the beginning. */
export const hashTo = async (
  file: SourceFile,
  from: Shipped,
  end: number,
): Promise<{ readonly digest: string; readonly hash: string | null }> => {
  let saved = extendDigest(from.hash, [])
  let at = from.shipped
  if (!saved) {
    saved = extendDigest(null, [])
    at = 0
  }
  for await (const chunk of file.chunks(at, end)) saved = saved && extendDigest(saved.state, [chunk])
  if (!saved) throw new Error('a hash state made here is of an unknown version')
  return { digest: saved.digest, hash: saved.state }
}

/** What is to be remembered of a file that has been shipped so far. */
export const stateOf = async (file: SourceFile, shipped: Shipped): Promise<FileState> => ({
  ...shipped,
  identity: file.identity,
  start: await digestOfRange(file, 0, Math.min(START_BYTES, shipped.shipped)),
  probe: await probeOf(file, shipped.cursor),
  loose: await digestOfRange(file, shipped.cursor, shipped.shipped),
})

const probeOf = (file: SourceFile, cursor: number) =>
  digestOfRange(file, Math.max(0, cursor - PROBE_BYTES), cursor)

const digestOfRange = async (file: SourceFile, start: number, end: number): Promise<string> => {
  let saved = extendDigest(null, [])
  for await (const chunk of file.chunks(start, end)) saved = saved && extendDigest(saved.state, [chunk])
  return saved?.digest ?? EMPTY_DIGEST
}
