import { digestOf, EMPTY_DIGEST } from '../../codec/index.ts'
import { extentName, isHashOfBytes } from '../../store/keys.ts'
import type { Extent, ObjectFacts, Objects } from '../../store/ports.ts'
import { extended } from '../../store/replay.ts'

/** An object of one generation of a file. */
export interface FoundExtent extends Omit<Extent, 'at'> {
  readonly key: string
  readonly start: number
  readonly stored_at: number
}

/** The bytes of a generation as far as its objects prove them. */
export interface Chain {
  readonly tail: number
  readonly digest: string
  readonly hash_state: string
  readonly extents: Record<string, Extent>
  /** Keys of which nobody can tell which was committed, where it ends. */
  readonly undecided: readonly string[]
  /** Whether committed bytes stand behind its end that nothing leads to. */
  readonly isTorn: boolean
}

/**
 * Follows the extents of a generation from its beginning. What was merged was committed. Of several objects at one place the one
 * counts that another one follows, by the digest before it; where that cannot be told the chain ends.
 */
export async function followExtents(objects: Objects, found: readonly FoundExtent[]): Promise<Chain> {
  const facts = async ({ key }: FoundExtent): Promise<ObjectFacts> => (await objects.facts(key)) ?? {}
  const extents: Record<string, Extent> = {}
  let end = { tail: 0, digest: EMPTY_DIGEST, hash_state: '' }
  for (;;) {
    const here = found.filter(({ start }) => start === end.tail)
    const candidates: { extent: FoundExtent; after: typeof end; isMerged: boolean }[] = []
    for (const extent of here) {
      const after = await hashed(objects, extent, end.hash_state)
      if (!after) continue
      const { merged, 'digest-before': before } = here.length > 1 ? await facts(extent) : ({} as ObjectFacts)
      const isMerged = merged !== undefined
      if (here.length === 1 || isMerged || before === end.digest) candidates.push({ extent, after, isMerged })
    }
    const isFollowed = async ({ after }: (typeof candidates)[number]) => {
      for (const next of found.filter(({ start }) => start === after.tail)) {
        const { merged, 'digest-before': before } = await facts(next)
        if (merged !== undefined || before === after.digest) return true
      }
      return false
    }
    const chosen = await choose(candidates, isFollowed)
    if (!chosen) {
      const undecided = candidates.map(({ extent }) => extent.key)
      return { ...end, extents, undecided, isTorn: found.some(({ start }) => start > end.tail) }
    }
    const { start, length, hash, sweep, stored_at } = chosen.extent
    extents[extentName(start)] = { length, hash, sweep, at: stored_at }
    end = chosen.after
  }
}

interface Candidate {
  readonly extent: FoundExtent
  readonly isMerged: boolean
}

async function choose<T extends Candidate>(
  candidates: readonly T[],
  isFollowed: (candidate: T) => Promise<boolean>,
): Promise<T | undefined> {
  const longest = candidates.toSorted((a, b) => b.extent.length - a.extent.length)
  const merged = longest.find(({ isMerged }) => isMerged)
  if (merged) return merged
  // The same bytes under several generations of keys are one candidate.
  const distinct = longest.filter(
    ({ extent }, n) => longest.findIndex((other) => other.extent.hash === extent.hash) === n,
  )
  if (distinct.length < 2) return distinct[0]
  const followed: T[] = []
  for (const candidate of distinct) if (await isFollowed(candidate)) followed.push(candidate)
  return followed.length === 1 ? followed[0] : undefined
}

/** Undefined where the object is gone or is not what its key says. */
async function hashed(objects: Objects, { key, start, length, hash }: FoundExtent, state: string) {
  const PIECE = 4 * 1024 * 1024
  let after = { digest: '', state: state === '' ? null : state } as { digest: string; state: string | null }
  let own: string | null = null
  let ownDigest = digestOf()
  for (let at = 0; at < length; at += PIECE) {
    const bytes = await objects
      .get(key, { start: at, end: Math.min(length, at + PIECE) })
      .catch(() => undefined)
    if (!bytes) return undefined
    after = extended(after.state, [bytes])
    ;({ state: own, digest: ownDigest } = extended(own, [bytes]))
  }
  if (length === 0 || (isHashOfBytes(hash) && !ownDigest.startsWith(hash))) return undefined
  return { tail: start + length, digest: after.digest, hash_state: after.state ?? '' }
}
