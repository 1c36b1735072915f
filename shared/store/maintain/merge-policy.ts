import type { Extents } from '../ports.ts'

// Which adjacent extents become one (DESIGN.md, "Archive = list of extents"). Pure: extents → a range of them.
//
// Levels by length, base 8:   0 "small" │ 1 from 8 MiB │ 2 from 64 MiB │ 3 from 512 MiB │ 4 from 4 GiB
//
// Neighbours below a level merge once together they reach it. So a merged byte rises a level each time, and is copied
// once per level. Small extents merge before that when there are 32 of them, but only those whose sum outweighs the
// largest of them most: copying what was merged a moment ago again with every 32 appends would cost the square of the
// appends, this way thousands of tiny ones cost n log n too. Small extents that larger ones have shut in become one.

const MiB = 1024 * 1024
const LEVELS = [8 * MiB, 64 * MiB, 512 * MiB, 4096 * MiB] as const
/** From this length on an extent is not small any more. */
export const MERGED_BYTES = LEVELS[0]
const MAX_SMALL = 32
const LEAST_IDLE_GROWTH = 1.25
/** Extents one merge takes at most, for the size of its commit. */
export const MAX_MERGED = 64
/** Largest object of S3. */
const MAX_OBJECT_BYTES = 5 * 1024 * 1024 * MiB
/** What S3 copies as a part of a multipart object has at least so many bytes; shorter extents are read. */
export const MIN_COPY_BYTES = 5 * MiB
/** What one merge reads into memory at most. */
const MAX_READ_BYTES = 16 * MiB

/** Names and lengths, in archive order. */
export interface Piece {
  readonly name: string
  readonly length: number
}

export function piecesOf(extents: Extents): Piece[] {
  return Object.entries(extents)
    .map(([name, { length }]) => ({ name, length }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The next merge that keeps a growing archive in few objects; undefined when there is nothing to do. */
export function pickMerge(pieces: readonly Piece[]): readonly Piece[] | undefined {
  for (const [level, full] of LEVELS.entries()) {
    for (const zone of zonesOf(pieces, LEVELS[level] as number)) {
      const isClosed = zone.at(-1) !== pieces.at(-1)
      const chosen = level === 0 ? pickSmall(zone, isClosed) : total(zone) >= full ? zone : undefined
      const merged = chosen && bounded(chosen)
      if (merged && merged.length > 1) return merged
    }
  }
  return undefined
}

/**
 * The next merge of an archive that rests and may go on later. Up to 64 MiB it becomes one object; a larger one is left in
 * a few, each much smaller than the one before it, lest every rest copy all of it again.
 */
export function pickIdleMerge(pieces: readonly Piece[]): readonly Piece[] | undefined {
  if (total(pieces) <= LEVELS[1]) return pickFinalMerge(pieces)
  const heavy = bounded(heaviest(pieces))
  return heavy.length > 1 && growth(heavy) >= LEAST_IDLE_GROWTH ? heavy : undefined
}

/** The merges that leave one object of an archive that has ended. */
export function pickFinalMerge(pieces: readonly Piece[]): readonly Piece[] | undefined {
  const merged = bounded(pieces)
  return merged.length > 1 ? merged : undefined
}

function pickSmall(zone: readonly Piece[], isClosed: boolean): readonly Piece[] | undefined {
  if (total(zone) >= LEVELS[0] || isClosed) return zone
  if (zone.length < MAX_SMALL) return undefined
  return heaviest(zone)
}

/** The neighbours with the greatest sum in proportion to the largest of them: each of their bytes rises the most. */
function heaviest(pieces: readonly Piece[]): readonly Piece[] {
  let best = { growth: 0, first: 0, end: 0 }
  for (let first = 0; first < pieces.length; first++) {
    let sum = 0
    let largest = 0
    for (let end = first; end < pieces.length; ) {
      const { length } = pieces[end++] as Piece
      sum += length
      largest = Math.max(largest, length)
      if (sum / largest > best.growth) best = { growth: sum / largest, first, end }
    }
  }
  return pieces.slice(best.first, best.end)
}

/** Longest runs of neighbours shorter than `below`. */
function zonesOf(pieces: readonly Piece[], below: number): Piece[][] {
  const zones: Piece[][] = [[]]
  for (const piece of pieces) {
    if (piece.length < below) zones.at(-1)?.push(piece)
    else zones.push([])
  }
  return zones
}

/** The newest of the pieces that one merge can take. */
function bounded(pieces: readonly Piece[]): readonly Piece[] {
  let first = pieces.length
  let bytes = 0
  let read = 0
  while (first > 0 && pieces.length - first < MAX_MERGED) {
    const { length } = pieces[first - 1] as Piece
    bytes += length
    read += length < MIN_COPY_BYTES ? length : 0
    if (bytes > MAX_OBJECT_BYTES || read > MAX_READ_BYTES) break
    first--
  }
  return pieces.slice(first)
}

function growth(pieces: readonly Piece[]): number {
  return total(pieces) / Math.max(...pieces.map(({ length }) => length))
}

function total(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
