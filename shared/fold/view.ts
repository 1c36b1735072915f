import type { HeldDelta, HeldRegion, HeldRegionDelta } from '../codec/index.ts'
import { hold } from '../codec/index.ts'
import type { FoldPart } from '../schema/index.ts'
import { FOLD_PARTS, pendingBatch } from '../schema/index.ts'
import { diffContext, exactDelta } from './delta.ts'
import type { FoldState } from './fold.ts'
import { pendingBatchOf } from './fold.ts'
import type { Point } from './point.ts'
import type { Region, Window } from './window.ts'
import { EMPTY_WINDOW } from './window.ts'

// What is folded, as values the codec's JSON writer turns into the answers of schema/reading.ts: Raw values are written
// as their bytes and lists lazily, so an answer of any size costs no second copy. Empty lists and nulls are left out
// exactly where LVR1 leaves them out.

/** How much of a point is shown: the sizes of its regions, its whole window, or what led to it from the one before. */
export type PointShape = 'summary' | 'full' | 'delta'

/** The parts asked for, and always the counts. */
export function foldedView(state: FoldState, parts: readonly FoldPart[] = FOLD_PARTS) {
  const asked = new Set(parts)
  return {
    identity: asked.has('identity') ? state.identity : undefined,
    meta: asked.has('meta') ? state.meta.raw : undefined,
    context: asked.has('context') ? windowView(state.context) : undefined,
    messages: asked.has('messages') ? state.messages : undefined,
    inference_count: state.inference_count,
    tool_call_count: state.tool_call_count,
    inference_usage: asked.has('inference_usage') ? state.inference_usage : undefined,
    pending_batch: asked.has('pending_batch') ? pendingView(state) : undefined,
  }
}

function pendingView(state: FoldState) {
  const batch = pendingBatchOf(state)
  return batch && hold(pendingBatch, batch)
}

/** `previous` is the window of the point before, the empty one for the first. */
export function pointView(point: Point, shape: PointShape, previous: Window = EMPTY_WINDOW) {
  if (shape === 'summary') return summaryView(point)
  const { context, meta, ...place } = point
  if (shape === 'full') return { ...place, meta: meta.raw, context: windowView(context) }
  return { ...place, meta: meta.raw, ...changeView(previous, context) }
}

function summaryView({ point, seq, at, meta, context }: Point) {
  const { status, iteration } = meta.facts
  const { stage_name, total_tokens, max_tokens } = context
  const regions = context.regions.map(({ name, kind, current_tokens, max_tokens, entries }) => ({
    name,
    kind,
    current_tokens,
    max_tokens,
    entries: entries.length,
  }))
  return { point, seq, at, status, iteration, stage_name, total_tokens, max_tokens, regions }
}

/**
 * The delta from one window to another. Where the form of deltas cannot say it (several regions of one name) the daemon's
 * own lossy delta is given, and the whole window beside it.
 */
export function changeView(prev: Window, next: Window) {
  const exact = exactDelta(prev, next)
  if (exact) return { delta: deltaView(exact) }
  return { delta: deltaView(diffContext(prev, next)), context: windowView(next) }
}

/** A window as LVR1 writes it. */
export function windowView({ stage_name, total_tokens, max_tokens, regions }: Window) {
  return { stage_name, total_tokens, max_tokens, regions: regions.map(regionView) }
}

/** A delta as LVR1 writes it. */
export function deltaView({ stage_name, total_tokens, max_tokens, regions }: HeldDelta) {
  return { stage_name, total_tokens, max_tokens, regions: regions.map(operationView) }
}

const operationView = (operation: HeldRegionDelta) =>
  'Set' in operation ? { Set: regionView(operation.Set) } : operation

const regionView = ({
  name,
  kind,
  current_tokens,
  max_tokens,
  entries,
  description,
}: Region | HeldRegion) => ({
  name,
  kind,
  current_tokens,
  max_tokens,
  entries: entries.length > 0 ? entries : undefined,
  description: description ?? undefined,
})
