import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { readSegment, SpoolDamaged, type SpoolRecord, segmentName, segmentStart } from './segment.ts'

/** A segment's place in the archive, and its size on the disk. */
export interface SegmentFile {
  /** Archive positions; the end is exclusive. */
  readonly start: number
  end: number
  /** Bytes on disk. */
  size: number
}

export interface FoundSegments {
  /** One behind the other, each whole. */
  readonly segments: SegmentFile[]
  /** Of what follows them. */
  readonly damage?: SpoolDamaged
}

/**
 * What a process has left of a run. What was never acknowledged is cut off; where something acknowledged is damaged or missing,
 * everything behind it stays on the disk as it is.
 */
export const foundSegments = async (folder: string): Promise<FoundSegments> => {
  const starts = (await readdir(folder)).map(segmentStart).filter((start) => start !== undefined)
  const segments: SegmentFile[] = []
  const empty: string[] = []
  let torn: { readonly path: string; readonly length: number } | undefined
  for (const start of starts.sort((a, b) => a - b)) {
    const path = join(folder, segmentName(start))
    const { records, length, tornBytes, damage } = await readSegment(path)
    const bytes = bytesIn(records)
    if (bytes === 0 && !damage) {
      empty.push(path)
      continue
    }
    const before = segments.at(-1)
    if (before && before.end !== start) return { segments, damage: missingBefore(path, before.end) }
    if (bytes > 0) segments.push({ start, end: start + bytes, size: length })
    if (damage) return { segments, damage }
    torn = tornBytes > 0 ? { path, length } : undefined
  }
  for (const path of empty) await rm(path)
  if (torn) await truncate(torn.path, torn.length)
  return { segments }
}

/** Of the archive. */
export const bytesIn = (records: readonly SpoolRecord[]): number =>
  records.reduce((sum, { bytes }) => sum + bytes.length, 0)

const missingBefore = (path: string, from: number) =>
  new SpoolDamaged(`what stands before ${path} is missing from ${from} on; what stands in it is not sent`)
