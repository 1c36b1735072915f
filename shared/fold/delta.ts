import type { HeldDelta, HeldRegion, HeldRegionDelta, Raw } from '../codec/index.ts'
import { canonicalEqual } from '../codec/index.ts'
import type { Entry } from '../schema/index.ts'
import { placesByName } from './regions.ts'
import type { Region, Window } from './window.ts'

/**
 * diff(prev, next) of LVR1.md 4.1, as a daemon writes it. By design of the format it loses the order and the place of
 * regions, repeated names, a change of description alone, and what changes together with a Clear.
 */
export function diffContext(prev: Window, next: Window): HeldDelta {
  const operations: HeldRegionDelta[] = []
  const olds = prev.regions.list()
  const before = placesByName(olds)
  for (const region of next.regions) {
    const place = before.get(region.name)?.[0]
    const old = place === undefined ? undefined : olds[place]
    if (!old) operations.push(setTo(region))
    else if (isEqual(old, region)) continue
    else if (region.entries.length === 0 && old.entries.length > 0) operations.push(clear(region))
    else if (hasSameLimits(old, region) && region.entries.startsWith(old.entries, isEqualEntry))
      operations.push(appendTo(old, region))
    else operations.push(setTo(region))
  }
  const kept = new Set(next.regions.map(({ name }) => name))
  for (const { name } of olds) if (!kept.has(name)) operations.push({ Remove: { name } })
  return deltaTo(next, operations)
}

/**
 * A delta of the same form that loses nothing: `applyDelta(prev, exactDelta(prev, next))` is `next`, byte for byte. A
 * region that changes its place is removed and set again. Undefined where the form cannot say it: a region beside
 * another of the same name can be kept or removed with it, but neither made nor changed.
 */
export function exactDelta(prev: Window, next: Window): HeldDelta | undefined {
  const olds = prev.regions.list()
  const news = next.regions.list()
  const before = placesByName(olds)
  const after = placesByName(news)
  const kept = keptInPlace(olds, news, before, after)

  const operations: HeldRegionDelta[] = []
  for (const [name] of before) {
    if ((after.get(name)?.[0] ?? Infinity) >= kept) operations.push({ Remove: { name } })
  }
  for (const [place, region] of news.entries()) {
    if (place >= kept) {
      if (after.get(region.name)?.length !== 1) return undefined
      operations.push(setTo(region))
    } else if (after.get(region.name)?.[0] === place) {
      const old = olds[before.get(region.name)?.[0] as number] as Region
      const operation = edited(old, region)
      if (operation) operations.push(operation)
    }
  }
  return deltaTo(next, operations)
}

/**
 * How many of the first new regions can stay where they are: they must follow each other among the old too, and since Remove
 * takes every region of a name, a name stays with all its regions or with none.
 */
function keptInPlace(
  olds: readonly Region[],
  news: readonly Region[],
  before: ReadonlyMap<string, readonly number[]>,
  after: ReadonlyMap<string, readonly number[]>,
): number {
  const seen = new Map<string, number>()
  let last = -1
  let open = 0 // the place behind the last region of every name seen so far
  let kept = 0
  for (const [place, region] of news.entries()) {
    const copy = seen.get(region.name) ?? 0
    const from = before.get(region.name) ?? []
    const to = after.get(region.name) ?? []
    const old = from[copy]
    if (old === undefined || old <= last || from.length !== to.length) return kept
    if (copy > 0 && !isSame(olds[old] as Region, region)) return kept
    seen.set(region.name, copy + 1)
    last = old
    open = Math.max(open, (to.at(-1) as number) + 1)
    if (open === place + 1) kept = open
  }
  return kept
}

/** The operation that makes a region that stays in its place what it is now; undefined when it is that already. */
function edited(old: Region, region: Region): HeldRegionDelta | undefined {
  if (isSame(old, region)) return undefined
  if (!hasSameLimits(old, region) || old.description !== region.description) return setTo(region)
  if (region.entries.length === 0 && old.entries.length > 0 && region.current_tokens === 0)
    return clear(region)
  return region.entries.startsWith(old.entries, isSameEntry) ? appendTo(old, region) : setTo(region)
}

const deltaTo = (
  { stage_name, total_tokens, max_tokens }: Window,
  regions: HeldRegionDelta[],
): HeldDelta => ({
  stage_name,
  total_tokens,
  max_tokens,
  regions,
})

const setTo = (region: Region): HeldRegionDelta => ({ Set: heldRegion(region) })
const clear = ({ name }: Region): HeldRegionDelta => ({ Clear: { name } })
const appendTo = (old: Region, { name, entries, current_tokens }: Region): HeldRegionDelta => ({
  Append: { name, entries: entries.from(old.entries.length), current_tokens },
})

const heldRegion = (region: Region): HeldRegion => ({ ...region, entries: region.entries.from(0) })

const hasSameLimits = (a: Region, b: Region) => a.kind === b.kind && a.max_tokens === b.max_tokens
const hasSameFrame = (a: Region, b: Region) =>
  hasSameLimits(a, b) && a.current_tokens === b.current_tokens && a.description === b.description

/** Equal in value, as the reference compares. */
const isEqual = (a: Region, b: Region) =>
  a === b || (hasSameFrame(a, b) && a.entries.equals(b.entries, isEqualEntry))
const isEqualEntry = (a: Raw<Entry>, b: Raw<Entry>) => a === b || canonicalEqual(a.bytes, b.bytes)

/** The same bytes: 1.0 and 1.00 are equal in value, but only one of them is what was appended. */
const isSame = (a: Region, b: Region) =>
  a === b || (hasSameFrame(a, b) && a.entries.equals(b.entries, isSameEntry))

function isSameEntry({ bytes: a }: Raw<Entry>, { bytes: b }: Raw<Entry>): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
