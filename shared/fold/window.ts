import type { HeldDelta, HeldRegion, HeldWindow, Raw } from '../codec/index.ts'
import type { Entry, Int } from '../schema/index.ts'
import { RegionEdits } from './edit-regions.ts'
import { AppendList } from './entries.ts'

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
  readonly regions: readonly Region[]
}

export const EMPTY_WINDOW: Window = { stage_name: '', total_tokens: 0, max_tokens: 0, regions: [] }

export function windowOf(held: HeldWindow): Window {
  const { stage_name, total_tokens, max_tokens } = held
  return { stage_name, total_tokens, max_tokens, regions: held.regions.map(regionOf) }
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
  if (delta.regions.length === 0) return { stage_name, total_tokens, max_tokens, regions: base.regions }

  const edits = new RegionEdits(base.regions)
  for (const operation of delta.regions) {
    if ('Set' in operation) {
      const region = regionOf(operation.Set)
      if (!edits.change(region.name, () => region)) edits.push(region)
    } else if ('Append' in operation) {
      const { name, entries, current_tokens } = operation.Append
      edits.change(name, (region) => ({ ...region, entries: region.entries.append(entries), current_tokens }))
    } else if ('Clear' in operation) {
      edits.change(operation.Clear.name, (region) => ({
        ...region,
        entries: AppendList.of([]),
        current_tokens: 0,
      }))
    } else {
      edits.remove(operation.Remove.name)
    }
  }
  return { stage_name, total_tokens, max_tokens, regions: edits.finish() }
}
