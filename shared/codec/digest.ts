import { createSHA256, type IHasher } from 'hash-wasm'

// SHA-256 that can be saved and continued, so that an append never reads the archive again (DESIGN.md, The head).

/** The digest of no bytes. */
export const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** How a saved state is spelled; another is computed again from the bytes, never an error. */
const STATE_VERSION = '2:'

/** The hash of some bytes, and what is needed to hash on behind them. */
export interface Digest {
  /** Lower-case hex SHA-256 of everything so far. */
  readonly digest: string
  /** Versioned text from which `extendDigest` goes on. It can contain the last 63 bytes hashed: keep it as safe as them. */
  readonly state: string
}

/** One is enough: each use below begins and ends without anything in between. */
let shared: IHasher | undefined

/** Must have resolved once before anything else here is called; afterwards it costs nothing. */
export async function loadDigest(): Promise<void> {
  shared ??= await createSHA256()
}

function hasher(): IHasher {
  if (shared === undefined) throw new Error('loadDigest() has not resolved yet')
  return shared
}

/** Lower-case hex SHA-256 of the bytes of all chunks. */
export function digestOf(...chunks: readonly Uint8Array[]): string {
  const sha256 = hasher().init()
  for (const chunk of chunks) sha256.update(chunk)
  return sha256.digest()
}

/** The digest after these chunks too, going on from a saved state (null: from nothing); undefined when the state cannot be read. */
export function extendDigest(state: string | null, chunks: Iterable<Uint8Array>): Digest | undefined {
  const sha256 = hasher().init()
  if (state !== null && !load(sha256, state)) return undefined
  for (const chunk of chunks) sha256.update(chunk)
  const saved = STATE_VERSION + btoa(String.fromCharCode(...withoutRemains(sha256.save())))
  return { digest: sha256.digest(), state: saved }
}

// The saved state of hash-wasm, of which we keep the first 4 + filled bytes and the last 48:
//
//   tag 4 │ block being filled: filled = length % 64 │ remains of older blocks … 64 │ length u64 LE │ hash 32 │ 8
const STATE_BYTES = 116
const BLOCK_AT = 4
const BLOCK_BYTES = 64
const LENGTH_AT = BLOCK_AT + BLOCK_BYTES

/** The block behind its filled part holds what was hashed before, perhaps another tenant's: it must not be kept (P10). */
function withoutRemains(state: Uint8Array): Uint8Array {
  const filled = (state[LENGTH_AT] ?? 0) % BLOCK_BYTES
  const kept = new Uint8Array(STATE_BYTES - BLOCK_BYTES + filled)
  kept.set(state.subarray(0, BLOCK_AT + filled))
  kept.set(state.subarray(LENGTH_AT), BLOCK_AT + filled)
  return kept
}

/** The state as it was before `withoutRemains`, but for the remains; undefined for bytes that it did not give. */
function withRoom(kept: Uint8Array): Uint8Array | undefined {
  const filled = kept.length - (STATE_BYTES - BLOCK_BYTES)
  const isSound =
    filled >= 0 && filled < BLOCK_BYTES && (kept[BLOCK_AT + filled] ?? 0) % BLOCK_BYTES === filled
  if (!isSound) return undefined
  const state = new Uint8Array(STATE_BYTES)
  state.set(kept.subarray(0, BLOCK_AT + filled))
  state.set(kept.subarray(BLOCK_AT + filled), LENGTH_AT)
  return state
}

function load(sha256: IHasher, state: string): boolean {
  if (!state.startsWith(STATE_VERSION)) return false
  try {
    const bytes = atob(state.slice(STATE_VERSION.length))
    const saved = withRoom(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)))
    if (saved) sha256.load(saved)
    return saved !== undefined
  } catch {
    return false
  }
}
