import type { PointsQuery } from '../../schema/index.ts'

type Walk = Pick<PointsQuery, 'from' | 'order' | 'step'>

/**
 * The numbers of the points that are asked for, of `total`, in the order of the walk; `resume` is the number an earlier
 * page of the same walk stopped before. Steps are counted from `from` where it is given and from point 0 elsewhere, in
 * both directions. The newest point always belongs to the walk, one that was the newest at an earlier page no more.
 */
export function* selectPoints(total: number, walk: Walk, resume?: number): Generator<number> {
  const { from, order, step = 1 } = walk
  const last = total - 1
  const base = from ?? 0
  const stepFrom = (point: number) => base + Math.ceil((point - base) / step) * step
  const stepBefore = (point: number) => stepFrom(point) - step
  if (order === 'desc') {
    for (let point = Math.min(last, resume ?? from ?? last); point >= 0; point = stepBefore(point))
      yield point
    return
  }
  const start = resume ?? base
  if (start > last) return
  let point = Math.min(last, stepFrom(start))
  for (; point < last; point = Math.min(last, stepFrom(point + 1))) yield point
  yield point
}
