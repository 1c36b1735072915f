import type { ByteRange, Objects } from '../ports.ts'
import { type Evidence, type Found, highest } from './evidence.ts'
import { digestWithin, type Measured, measured } from './measure.ts'

// Which objects follow each other, told by what their writers knew (DESIGN.md, Rebuild):
//
//   base ──► a ──► b ──► c              d's facts: offset and digest of the archive before it. Its writer read them
//                  └───► c′             in the head, so all before d was committed, by c and not by c′.
//                        c ──► d        d itself may have been refused: the last object is a candidate.
//
// A merge copies what was committed, so the end of a merged object is proven as well.

/** How the archive goes on behind the base, as far as that can be told. */
export interface Chain {
  readonly end: Measured
  /** The objects behind the base, in order. */
  readonly links: readonly Found[]
  /** At the end, where what was committed cannot be told from what was refused. */
  readonly undecided: readonly Found[]
  /** What was committed and is not there any more, or cannot be reached. */
  readonly lost: ByteRange | undefined
}

/** An archive up to some object, and how it came there. */
interface Step {
  readonly at: Measured
  readonly found: Found | undefined
  readonly before: Step | undefined
}

/** Goes on from the base as far as what was committed can be told, and over the last object where that is certain enough. */
export async function followChain(
  objects: Objects,
  base: Measured,
  { objects: found, farthest }: Pick<Evidence, 'objects' | 'farthest'>,
): Promise<Chain> {
  const proven = new Map([[base.offset, base.hashed.digest], ...proofs(found)])
  if (farthest) proven.set(farthest.tail, farthest.digest)
  const until = highest([...proven.keys(), ...found.flatMap((one) => (one.isMerged ? one.end : []))])
  const start: Step = { at: base, found: undefined, before: undefined }
  const byStart = Map.groupBy(found, (one) => one.start)
  let step = await walkTo(objects, start, byStart, proven, until)
  let next = await chooseLast(objects, step, byStart)
  for (; next && 'at' in next; next = await chooseLast(objects, step, byStart)) step = next
  const end = step.at
  const lost = end.offset < until ? { start: end.offset, end: until } : undefined
  return { end, links: linksOf(step), undecided: next?.undecided ?? [], lost }
}

type ByStart = ReadonlyMap<number, readonly Found[]>

/** Digests of the archive by offset, as writers saw them in the head; within a life there is one of each. */
function proofs(found: readonly Found[]): [number, string][] {
  return found.flatMap(({ start, digestBefore, isMerged }) =>
    digestBefore === undefined || isMerged ? [] : [[start, digestBefore]],
  )
}

/** Depth first to the last proven offset; where that is not to be reached, the farthest proven one that is. */
async function walkTo(
  objects: Objects,
  start: Step,
  found: ByStart,
  proven: ReadonlyMap<number, string>,
  until: number,
): Promise<Step> {
  let farthest = start
  const open: Step[] = [start]
  for (let step = open.pop(); step; step = open.pop()) {
    const { at } = step
    const isProven = proven.get(at.offset) === at.hashed.digest || step.found?.isMerged
    if (isProven && at.offset > farthest.at.offset) farthest = step
    if (at.offset === until) return step
    const ahead: Step[] = []
    for (const one of followers(found, at).filter(({ end }) => end <= until)) {
      const after = await measured(objects, at, one)
      const known = after && proven.get(after.offset)
      if (!after || (known !== undefined && known !== after.hashed.digest)) continue
      ahead.push({ at: after, found: one, before: step })
      if (one.isMerged || known !== undefined) break // nothing can be better than what is proven
    }
    open.push(...ahead.reverse())
  }
  return farthest
}

/** What may stand next, the likeliest first; the same bytes stored under several generations count once. */
function followers(found: ByStart, { offset, hashed }: Measured): readonly Found[] {
  const fitting = (found.get(offset) ?? [])
    .filter(({ digestBefore, length }) => length > 0 && [undefined, hashed.digest].includes(digestBefore))
    .sort(
      (a, b) =>
        Number(b.isMerged) - Number(a.isMerged) ||
        b.epoch - a.epoch ||
        b.length - a.length ||
        b.sweep - a.sweep,
    )
  const seen = new Set<string>()
  return fitting.filter(({ hash, length }) => {
    const content = `${length}-${hash}`
    return !seen.has(content) && seen.add(content)
  })
}

/** Behind what is proven: the newest owner's object, if its candidates are one, or each a beginning of the longest. */
async function chooseLast(
  objects: Objects,
  step: Step,
  found: ByStart,
): Promise<Step | { readonly undecided: readonly Found[] } | undefined> {
  const { at } = step
  const candidates = followers(found, at)
  const epoch = highest(candidates.map((one) => one.epoch))
  const whole: { found: Found; after: Measured }[] = []
  for (const one of candidates.filter((candidate) => candidate.epoch === epoch)) {
    const after = await measured(objects, at, one)
    if (after) whole.push({ found: one, after })
  }
  const [longest, ...shorter] = whole
  if (!longest) return undefined
  for (const { found: one, after } of shorter) {
    const same = await digestWithin(objects, at, longest.found, one.length)
    if (same !== after.hashed.digest) return { undecided: whole.map((candidate) => candidate.found) }
  }
  return { at: longest.after, found: longest.found, before: step }
}

function linksOf(step: Step): readonly Found[] {
  const links: Found[] = []
  for (let at: Step | undefined = step; at?.found; at = at.before) links.push(at.found)
  return links.reverse()
}
