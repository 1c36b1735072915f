import { loadDigest } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { isRunfoldError } from '../../schema/index.ts'
import { hashOf, partsOf, pickMerge, piecesOf, type Source } from '../../store/index.ts'
import { extentKey, extentStart } from '../../store/keys.ts'
import type { Extent, FileItem, FilePlace } from '../../store/ports.ts'
import { generationPrefix } from '../../store/session-keys.ts'
import { extentFacts } from './facts.ts'
import { changeFile, successor } from './items.ts'
import type { SessionParts } from './parts.ts'

/** Merges of one file in one visit, so that a long one does not hold up the others. */
const MERGES_A_VISIT = 8

/** Merges what the policy for archives finds, so that a file that grows by many small appends stays in few objects. */
export async function mergeFile(
  parts: SessionParts,
  session: SessionKey,
  place: FilePlace,
  file: FileItem,
): Promise<FileItem> {
  let merged = file
  for (let merges = 0; merges < MERGES_A_VISIT; merges++) {
    const pieces = pickMerge(piecesOf(merged.extents))
    const next = pieces && (await mergeOnce(parts, session, place, merged, pieces))
    if (!next) break
    merged = next
  }
  return merged
}

/** Makes one object of adjacent extents and swaps it in; undefined when someone else was quicker. Appends go on meanwhile. */
async function mergeOnce(
  parts: SessionParts,
  session: SessionKey,
  place: FilePlace,
  file: FileItem,
  pieces: readonly { readonly name: string }[],
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
  } catch (error) {
    // Merged and swept by someone else meanwhile, unless the file still names it: then it is lost (P7).
    const now = await parts.ports.sessions.file(session, place)
    if (isRunfoldError(error, 'not_found') && !isUnchanged(now, file, sources)) return undefined
    throw error
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
