import type { PointsQuery } from '../../schema/index.ts'

type Walk = Pick<PointsQuery, 'from' | 'order' | 'step'>

/**
 * The numbers of the points that are asked for, of `total`, in the order of the walk; `resume` goes on at a number that
 * an earlier page of the same walk ended before. A step counts from `from` where it is given and from point 0 elsewhere,
 * in both directions; the newest point always belongs to it.
 */
export function* selectPoints(total: number, walk: Walk, resume?: number): Generator<number> {
  const { from, order, step = 1 } = walk
  const last = total - 1
  const base = from ?? 0
  if (order === 'asc') {
    for (let point = resume ?? base; point <= last; ) {
      yield point
      if (point === last) return
      point = Math.min(last, base + (Math.floor((point - base) / step) + 1) * step)
    }
    return
  }
  for (let point = Math.min(last, resume ?? from ?? last); point >= 0; ) {
    yield point
    point = base + (Math.ceil((point - base) / step) - 1) * step
  }
}
