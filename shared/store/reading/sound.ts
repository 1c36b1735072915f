import { EMPTY_DIGEST, loadDigest } from '../../codec/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import { extended } from '../replay.ts'

/** What has a digest that was told when its bytes were appended. */
interface Whole {
  readonly head: { readonly tail: number; readonly digest: string }
  bytes(start: number, end: number): AsyncIterable<Uint8Array>
}

/**
 * The whole archive, whose last piece comes only when all of them have the digest that the head tells: what storage has
 * changed without changing its length is never given back as if it were sound (P1, P7).
 *
 * @throws internal naming the bytes; `verify` tells which object it is
 */
export async function* soundBytes(view: Whole): AsyncGenerator<Uint8Array, void, undefined> {
  const { tail, digest } = view.head
  await loadDigest()
  let seen = { digest: EMPTY_DIGEST, state: null as string | null }
  let held: Uint8Array | undefined
  for await (const piece of view.bytes(0, tail)) {
    seen = extended(seen.state, [piece])
    if (held) yield held
    held = piece
  }
  if (seen.digest !== digest) {
    const detail = `archive bytes 0 to ${tail} have another digest than when they were appended`
    throw new RunfoldError('internal', detail, { offset: 0, length: tail })
  }
  if (held) yield held
}
