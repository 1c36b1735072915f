import type { Keep } from '../../fold/index.ts'
import { foldedView } from '../../fold/index.ts'
import type { FoldPart, FoldQuery } from '../../schema/index.ts'
import { FOLD_PARTS } from '../../schema/index.ts'
import type { Place } from './state-at.ts'
import { checkPlace, stateAt } from './state-at.ts'
import type { ArchiveView } from './view.ts'

/** `GET …/fold`: the present state or a past one, as a value for the codec's JSON writer (schema/reading.ts, foldAnswer). */
export async function foldAnswer(view: ArchiveView, query: FoldQuery) {
  const parts = query.parts ?? FOLD_PARTS
  const { seq, offset, state } = await stateAt(view, placeOf(view, query), keepFor(parts))
  return {
    run_id: view.run.run_id,
    seq,
    offset,
    point: state.points > 0 ? state.points - 1 : null,
    folded: foldedView(state, parts),
  }
}

/**
 * A strong ETag that is known before anything is folded. A state after a seq or a point never changes; the present one,
 * and the one at a time, are those of the frames there are now.
 *
 * @throws range_not_satisfiable past the end, where there is nothing that a tag could be of
 */
export function foldTag(view: ArchiveView, query: FoldQuery): string {
  checkPlace(view, placeOf(view, query))
  const { life, frames } = view.head
  const place =
    query.seq !== undefined
      ? `seq${query.seq}`
      : query.point !== undefined
        ? `point${query.point}`
        : query.at !== undefined
          ? `at${query.at}-seq${frames}`
          : `seq${frames}`
  const parts = FOLD_PARTS.flatMap((part, n) => (query.parts?.includes(part) === false ? [] : [n])).join('')
  return `"fold-${life}-${place}-${parts}"`
}

function placeOf(view: ArchiveView, { seq, point, at }: FoldQuery): Place {
  if (point !== undefined) return { point }
  if (at !== undefined) return { at }
  return { seq: seq ?? view.head.frames }
}

const keepFor = (parts: readonly FoldPart[]): Keep => ({
  messages: parts.includes('messages'),
  inference_usage: parts.includes('inference_usage'),
})
