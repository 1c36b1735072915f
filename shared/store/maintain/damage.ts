import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import type { Extent, Objects } from '../ports.ts'
import type { Piece } from './merge-policy.ts'

// An extent that is gone or changed cannot be merged, and must not keep the others from it: merges go around it, or the
// archive would end up with more extents than it may have, and take no append any more.

interface Stored {
  readonly name: string
  readonly start: number
  readonly extent: Pick<Extent, 'length'>
  readonly key: string
}

/**
 * What is to be thrown for the failed composition of sources that ought to be there: `internal` with `offset` and `length`
 * of the first that is not there to its end, else the failure itself.
 */
export async function damageAmong(
  objects: Objects,
  sources: readonly Stored[],
  failure: unknown,
): Promise<unknown> {
  if (!isRunfoldError(failure, 'internal', 'not_found')) return failure
  if (failure.code === 'internal' && failure.facts.offset !== undefined) return failure
  for (const { start, extent, key } of sources) {
    const { length } = extent
    const last = await objects.get(key, { start: length - 1, end: length }).catch((error: unknown) => {
      if (!isRunfoldError(error, 'internal')) throw error
    })
    if (!last) return damaged(start, length, 'cannot be read', failure)
  }
  return failure
}

/** Of the archive bytes of an extent. */
export function damaged(start: number, length: number, how: string, cause?: unknown): RunfoldError {
  const facts = { offset: start, length }
  return new RunfoldError('internal', `archive bytes ${start} to ${start + length} ${how}`, facts, { cause })
}

/** The one of the pieces that the error is about; undefined where it is about none. */
export function damagedPiece<P extends Piece>(pieces: readonly P[], error: unknown): P | undefined {
  if (!isRunfoldError(error, 'internal')) return undefined
  const { offset, length } = error.facts
  return pieces.find((piece) => Number(piece.name) === offset && piece.length === length)
}

/** The neighbours between those that are damaged. */
export function* soundStretches(
  pieces: readonly Piece[],
  damagedNames: ReadonlySet<string>,
): Generator<readonly Piece[]> {
  let first = 0
  for (const [n, { name }] of pieces.entries()) {
    if (!damagedNames.has(name)) continue
    yield pieces.slice(first, n)
    first = n + 1
  }
  yield pieces.slice(first)
}
