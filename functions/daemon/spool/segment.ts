import { readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

// A segment is a file that only grows: records one behind the other, each written by one write and synced before the next.
//
//   0        4        8         16            16 + length
//   ┌────────┬────────┬─────────┬─────────────┐
//   │ length │ crc32  │ epoch   │ bytes       │   integers big-endian; the checksum covers epoch and bytes
//   └────────┴────────┴─────────┴─────────────┘
//
// Its name is the archive position of its first byte, so what the records are of the archive follows from their lengths.

const HEAD_BYTES = 16
const CHECKED_FROM = 8
const SUFFIX = '.spool'

/** What one write brought: one append, or several that came together. */
export interface SpoolRecord {
  /** The epoch under which the writer owned the run; 0 when it had none yet. */
  readonly epoch: number
  readonly bytes: Uint8Array
}

export interface Segment {
  readonly records: readonly SpoolRecord[]
  /** Length of the records as they stand in the file. */
  readonly length: number
  /** What follows them: a record that was being written when its writer ended, and was never acknowledged. */
  readonly tornBytes: number
  /** What follows them was acknowledged, and is not what was written. */
  readonly damage: SpoolDamaged | undefined
}

/** Something that was acknowledged is not what was written, or is gone. Names file and position. */
export class SpoolDamaged extends Error {}

export const segmentName = (start: number): string => String(start).padStart(16, '0') + SUFFIX

/** The archive position in a segment's name; undefined for other files. */
export const segmentStart = (name: string): number | undefined =>
  /^\d{16}\.spool$/.test(name) ? Number(name.slice(0, 16)) : undefined

export const encodeSpoolRecord = ({ epoch, bytes }: SpoolRecord): Uint8Array => {
  const record = new Uint8Array(HEAD_BYTES + bytes.length)
  const view = new DataView(record.buffer)
  view.setUint32(0, bytes.length)
  view.setBigUint64(CHECKED_FROM, BigInt(epoch))
  record.set(bytes, HEAD_BYTES)
  view.setUint32(4, crc32(record.subarray(CHECKED_FROM)))
  return record
}

/** Neighbours of one epoch as one record each. */
export const mergeRecords = (records: readonly SpoolRecord[]): readonly SpoolRecord[] => {
  const groups: { epoch: number; pieces: Uint8Array[] }[] = []
  for (const { epoch, bytes } of records) {
    const last = groups.at(-1)
    if (last?.epoch === epoch) last.pieces.push(bytes)
    else groups.push({ epoch, pieces: [bytes] })
  }
  return groups.map(({ epoch, pieces }) => ({ epoch, bytes: Buffer.concat(pieces) }))
}

/**
 * Reads a segment, or the first `size` bytes of one that is being written. Only its end can be torn, since a writer
 * acknowledges one record before it writes the next behind it; where it was acknowledged up to `size`, not even that.
 */
export const readSegment = async (path: string, size?: number): Promise<Segment> => {
  const file = (await readFile(path)).subarray(0, size)
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const records: SpoolRecord[] = []
  let at = 0
  while (at + HEAD_BYTES <= file.length) {
    const end = at + HEAD_BYTES + view.getUint32(at)
    if (end > file.length) break
    if (crc32(file.subarray(at + CHECKED_FROM, end)) !== view.getUint32(at + 4)) {
      // A file system may have given the file its length before its bytes, but only for the write that came last.
      if (end === file.length || file.subarray(at).every((byte) => byte === 0)) break
      return { records, length: at, tornBytes: 0, damage: damagedAt(path, at) }
    }
    const epoch = Number(view.getBigUint64(at + CHECKED_FROM))
    records.push({ epoch, bytes: file.subarray(at + HEAD_BYTES, end) })
    at = end
  }
  const damage = size !== undefined && at < size ? damagedAt(path, at) : undefined
  return { records, length: at, tornBytes: file.length - at, damage }
}

const damagedAt = (path: string, at: number) =>
  new SpoolDamaged(`${path} is damaged in the record at ${at}; what stands behind it is not sent`)
