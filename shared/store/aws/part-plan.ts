import { RunfoldError } from '../../schema/index.ts'
import type { ByteRange, ComposePart } from '../ports.ts'

// Limits of S3 multipart uploads. No part but the last may be smaller than MIN_PART, and a range can be copied only
// from an object larger than that.
export const MIN_PART = 5_242_880
const MAX_PARTS = 10_000
/** S3 copies up to 5 GiB as one part; smaller ones run side by side and answer well within a time-out. */
export const COPY_PART = 1_073_741_824
/**
 * What travels through this process goes in parts of this size; the bound of memory per part. Larger than 8 MiB, at which
 * small extents merge, so that most such merges are one request.
 */
export const UPLOAD_PART = 10_485_760

/** One part of the upload: a range that S3 copies by itself, or pieces to be read, packed and uploaded by us. */
export type PlannedPart =
  | { readonly copy: string; readonly range: ByteRange }
  | { readonly pack: readonly ComposePart[]; readonly length: number }

export const lengthOf = (part: ComposePart): number =>
  'copy' in part ? part.range.end - part.range.start : part.bytes.length

/** Bytes `start..end` of a part, relative to its own beginning. */
const slice = (part: ComposePart, start: number, end: number): ComposePart =>
  'copy' in part
    ? { copy: part.copy, range: { start: part.range.start + start, end: part.range.start + end } }
    : { bytes: part.bytes.subarray(start, end) }

/** A range that ends past MIN_PART proves that its object is large enough to copy from. */
const isCopyable = (part: ComposePart): part is Extract<ComposePart, { copy: string }> =>
  'copy' in part && lengthOf(part) >= MIN_PART && part.range.end > MIN_PART

function copiesOf(part: Extract<ComposePart, { copy: string }>): PlannedPart[] {
  const count = Math.ceil(lengthOf(part) / COPY_PART)
  const cut = (n: number) => part.range.start + Math.floor((lengthOf(part) * n) / count)
  return Array.from({ length: count }, (_, n) => ({
    copy: part.copy,
    range: { start: cut(n), end: cut(n + 1) },
  }))
}

/** Lays parts of any size out as S3 allows. Small neighbours are packed; a pack too small borrows from the copy behind it. */
export function planParts(parts: readonly ComposePart[]): PlannedPart[] {
  const planned: PlannedPart[] = []
  let pack: ComposePart[] = []
  let length = 0
  const flush = () => {
    if (length > 0) planned.push({ pack, length })
    pack = []
    length = 0
  }
  const take = (part: ComposePart, upTo: number) => {
    for (let at = 0; at < upTo; ) {
      const end = Math.min(upTo, at + UPLOAD_PART - length)
      pack.push(slice(part, at, end))
      length += end - at
      at = end
      if (length === UPLOAD_PART) flush()
    }
  }
  for (const part of parts) {
    const size = lengthOf(part)
    const borrowed = length > 0 ? Math.max(0, MIN_PART - length) : 0
    if (isCopyable(part) && size - borrowed >= MIN_PART) {
      take(part, borrowed)
      flush()
      planned.push(
        ...copiesOf({ copy: part.copy, range: { ...part.range, start: part.range.start + borrowed } }),
      )
    } else take(part, size)
  }
  flush()
  if (planned.length > MAX_PARTS) {
    throw new RunfoldError('internal', `an object of ${planned.length} parts; S3 takes ${MAX_PARTS}`)
  }
  return planned
}
