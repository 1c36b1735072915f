import type { HeldDelta, HeldRegion, HeldRegionDelta, HeldWindow, Raw } from '../codec/index.ts'
import type { Entry, Int } from '../schema/index.ts'
import { AppendList } from './entries.ts'
import { type Regions, regionsOf } from './regions.ts'

/** A region of the context window as the fold keeps it: entries as bytes, in a list that versions share. */
export interface Region {
  readonly name: string
  readonly kind: string
  readonly current_tokens: Int
  readonly max_tokens: Int
  readonly entries: AppendList<Raw<Entry>>
  readonly description: string | null
}

/** The context window. Token totals are believed, never added up (LVR1.md 4.2). */
export interface Window {
  readonly stage_name: string
  readonly total_tokens: Int
  readonly max_tokens: Int
  readonly regions: Regions
}

/** Before the first record that has one. */
export const EMPTY_WINDOW: Window = {
  stage_name: '',
  total_tokens: 0,
  max_tokens: 0,
  regions: regionsOf([]),
}

/** The window that a record holds. */
export function windowOf(held: HeldWindow): Window {
  const { stage_name, total_tokens, max_tokens } = held
  return { stage_name, total_tokens, max_tokens, regions: regionsOf(held.regions.map(regionOf)) }
}

function regionOf(held: HeldRegion): Region {
  return { ...held, entries: AppendList.of(held.entries) }
}

/**
 * apply(base, delta) of LVR1.md 4.2: it never fails, an operation on a name that is not there is ignored, and all but
 * Remove mean the first region of a name.
 */
export function applyDelta(base: Window, delta: HeldDelta): Window {
  const { stage_name, total_tokens, max_tokens } = delta
  return { stage_name, total_tokens, max_tokens, regions: delta.regions.reduce(applyTo, base.regions) }
}

function applyTo(regions: Regions, operation: HeldRegionDelta): Regions {
  if ('Set' in operation) {
    const region = regionOf(operation.Set)
    return regions.change(region.name, () => region) ?? regions.push(region)
  }
  if ('Append' in operation) {
    const { name, entries, current_tokens } = operation.Append
    const grow = (region: Region) => ({ ...region, entries: region.entries.append(entries), current_tokens })
    return regions.change(name, grow) ?? regions
  }
  if ('Clear' in operation) {
    return regions.change(operation.Clear.name, cleared) ?? regions
  }
  return regions.remove(operation.Remove.name)
}

const cleared = (region: Region) => ({ ...region, entries: AppendList.of<Raw<Entry>>([]), current_tokens: 0 })
