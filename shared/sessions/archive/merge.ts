import { loadDigest } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { isRunfoldError } from '../../schema/index.ts'
import {
  damageAmong,
  damagedPiece,
  hashOf,
  type Piece,
  partsOf,
  pickMerge,
  piecesOf,
  release,
  type Source,
  soundStretches,
} from '../../store/index.ts'
import { extentKey, extentStart } from '../../store/keys.ts'
import type { Extent, FileItem, FilePlace } from '../../store/ports.ts'
import { generationPrefix } from '../../store/session-keys.ts'
import { extentFacts } from './facts.ts'
import { changeFile, successor } from './items.ts'
import type { SessionParts } from './parts.ts'

/** Merges of one file in one visit, so that a long one does not hold up the others. */
const MERGES_A_VISIT = 8

export interface MergedFile {
  readonly file: FileItem
  /** Whether the next visit would find something to merge. */
  readonly isMore: boolean
  /** The first extent that could not be merged, as an error; the others were merged around it. */
  readonly damage: unknown
}

/** Merges what the policy for archives finds, so that a file that grows by many small appends stays in few objects. */
export async function mergeFile(
  parts: SessionParts,
  session: SessionKey,
  place: FilePlace,
  begun: FileItem,
): Promise<MergedFile> {
  const damaged = new Set<string>()
  let damage: unknown
  let file = begun
  for (let merges = 0; merges < MERGES_A_VISIT; ) {
    const pieces = nextMerge(file, damaged)
    if (!pieces) break
    try {
      const next = await mergeOnce(parts, session, place, file, pieces)
      if (!next) break
      file = next
      merges++
    } catch (error) {
      const piece = damagedPiece(pieces, error)
      if (!piece) throw error
      damaged.add(piece.name)
      damage ??= error
    }
  }
  return { file, isMore: nextMerge(file, damaged) !== undefined, damage }
}

function nextMerge({ extents }: FileItem, damaged: ReadonlySet<string>): readonly Piece[] | undefined {
  for (const pieces of soundStretches(piecesOf(extents), damaged)) {
    const next = pickMerge(pieces)
    if (next) return next
  }
  return undefined
}

/** Makes one object of adjacent extents and swaps it in; undefined when someone else was quicker. Appends go on meanwhile. */
async function mergeOnce(
  parts: SessionParts,
  session: SessionKey,
  place: FilePlace,
  file: FileItem,
  pieces: readonly Piece[],
): Promise<FileItem | undefined> {
  const { objects } = parts.ports
  const prefix = generationPrefix(session, place, file.generation)
  const sources = pieces.map(({ name }): Source => {
    const extent = file.extents[name] as Extent
    const start = extentStart(name)
    return { name, start, extent, key: extentKey(prefix, start, extent) }
  })
  const first = sources[0] as Source
  await loadDigest()
  const length = sources.reduce((sum, { extent }) => sum + extent.length, 0)
  let merged: Omit<Extent, 'at'>
  try {
    const composed = await partsOf(objects, sources)
    merged = { length, hash: hashOf(sources, composed), sweep: file.sweep }
    await objects.compose(
      extentKey(prefix, first.start, merged),
      composed,
      extentFacts(session, place.path, undefined),
    )
    for (const part of composed) if ('bytes' in part) release(part.bytes)
  } catch (error) {
    // Merged and swept by someone else meanwhile, unless the file still names it: then it is lost (P7).
    const now = await parts.ports.sessions.file(session, place)
    if (isRunfoldError(error, 'not_found') && !isUnchanged(now, file, sources)) return undefined
    throw await damageAmong(objects, sources, error)
  }
  const at = parts.clock.now()
  return changeFile(parts, session, place, (now) => {
    if (!now || !isUnchanged(now, file, sources)) return undefined
    const names = new Set(sources.map(({ name }) => name))
    const others = Object.entries(now.extents).filter(([name]) => !names.has(name))
    const extents = Object.fromEntries([...others, [first.name, { ...merged, at }]].sort(byName))
    return successor(now, { extents })
  })
}

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]) => (String(a) < String(b) ? -1 : 1)

function isUnchanged(now: FileItem | undefined, file: FileItem, sources: readonly Source[]): boolean {
  if (now?.generation !== file.generation || now.sweep !== file.sweep) return false
  return sources.every(({ name, extent }) => {
    const found = now.extents[name]
    return found?.hash === extent.hash && found.length === extent.length
  })
}
