import type { RunKey } from '../../schema/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import { factsOf } from '../commit.ts'
import { objectKey } from '../keys.ts'
import { hashOf, readSource, type Source, sourceOf } from '../maintain/merge.ts'
import { MIN_COPY_BYTES, piecesOf } from '../maintain/merge-policy.ts'
import type { ComposePart, Extent, Head, Objects } from '../ports.ts'

/** What is read into memory at most; small extents beyond it are copied without being checked. */
const MAX_READ_BYTES = 48 * 1024 * 1024

/** A head and whose it is. */
export interface OwnedHead {
  readonly run: RunKey
  readonly head: Head
}

/**
 * Makes one object of the first `length` bytes of an archive, for a run that has none yet: large extents are copied inside
 * the storage, small ones come by here and are checked on the way.
 *
 * @throws not_found where an extent of the source is gone
 */
export async function copyPrefix(
  objects: Objects,
  source: OwnedHead,
  target: OwnedHead,
  length: number,
): Promise<Omit<Extent, 'at'>> {
  const sources = beginningOf(source, length)
  let room = MAX_READ_BYTES
  const parts: ComposePart[] = []
  for (const { whole, taken } of sources) {
    const isRead = taken < MIN_COPY_BYTES && taken <= room
    if (isRead) room -= taken
    parts.push(
      isRead
        ? { bytes: await readBeginning(objects, whole, taken) }
        : { copy: whole.key, range: { start: 0, end: taken } },
    )
  }
  // The lengths that were taken belong to what names the object: another cut is another object.
  const cut = sources.map(({ whole, taken }) => ({ ...whole, extent: { ...whole.extent, length: taken } }))
  const extent = { length, hash: hashOf(cut, parts), sweep: target.head.sweep }
  await objects.compose(objectKey(target.run, 0, extent), parts, factsOf(target.head, 0))
  return extent
}

interface Taken {
  readonly whole: Source
  /** Bytes from its beginning on. */
  readonly taken: number
}

/** The extents that hold the first `length` bytes. */
export function extentsUpTo({ run, head }: OwnedHead, length: number): Source[] {
  return piecesOf(head.extents)
    .map(({ name }) => sourceOf(run, head, name))
    .filter(({ start }) => start < length)
}

function beginningOf(owned: OwnedHead, length: number): Taken[] {
  return extentsUpTo(owned, length).map((whole) => ({
    whole,
    taken: Math.min(whole.extent.length, length - whole.start),
  }))
}

/** A small extent is read whole, since only its whole can be checked. */
async function readBeginning(objects: Objects, whole: Source, taken: number): Promise<Uint8Array> {
  const { start, extent, key } = whole
  if (extent.length < MIN_COPY_BYTES) return (await readSource(objects, whole)).subarray(0, taken)
  const bytes = await objects.get(key, { start: 0, end: taken })
  if (bytes) return bytes
  throw new RunfoldError('not_found', `archive bytes ${start} to ${start + taken} are gone`, {
    offset: start,
    length: taken,
  })
}
