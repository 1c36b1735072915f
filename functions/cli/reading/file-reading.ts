import {
  type ArchiveItem,
  PREAMBLE,
  type ReadPayload,
  readRecord,
  readStream,
  recordView,
  scanRecord,
} from '#codec'
import {
  changeView,
  type Folding,
  fold,
  foldedView,
  NO_HEADER,
  noHeader,
  type Point,
  pointAfter,
  pointView,
  UsageTally,
} from '#fold'
import { type FoldPart, RunfoldError } from '#schema'
import { counted } from '../../counted.ts'
import { fileBytes } from './file-bytes.ts'
import { verifyBytes } from './file-verify.ts'
import { LeftOut } from './left-out.ts'
import { namedAfter, ofFile } from './of-file.ts'
import type { Moment, PointsWanted, Reading, RecordsWanted } from './reading.ts'

type Folded = Exclude<Folding, undefined | typeof NO_HEADER>

/** Reads an archive on disk with the same codec and fold as the server; memory holds a frame and the state, not the file. */
export class FileReading implements Reading {
  readonly file: string
  readonly #signal: AbortSignal
  /** What `records`, `points`, `point`, `fold`, `diff` and `usage` have met that is no record. */
  readonly leftOut = new LeftOut()

  constructor(path: string, signal: AbortSignal) {
    this.file = path
    this.#signal = signal
  }

  bytes(): AsyncIterable<Uint8Array> {
    return fileBytes(this.file)
  }

  async *#items<R>(read: ReadPayload<R>): AsyncGenerator<ArchiveItem<R>> {
    try {
      for await (const item of readStream(this.bytes(), read)) {
        this.#signal.throwIfAborted()
        this.leftOut.add(item)
        yield item
      }
    } catch (error) {
      throw namedAfter(this.file, error)
    }
  }

  async *records({ from = 0, to = Infinity, kinds }: RecordsWanted): AsyncGenerator<unknown> {
    for await (const item of this.#items(scanRecord)) {
      if (item.type === 'torn') return
      const { seq, offset, length } = item.frame
      if (seq >= to) return
      if (seq < from) continue
      const place = { seq, offset, length }
      if (item.type === 'record') {
        const { kind, at } = item.record
        if (!kinds || kinds.includes(kind))
          yield { ...place, kind, at, record: recordView(item.frame.payload) }
      } else if (!kinds) yield { ...place, kind: null, at: null, record: null, unreadable: item.reason }
    }
  }

  async *points({ shape, from = 0, step = 1 }: PointsWanted): AsyncGenerator<unknown> {
    let previous: Point | undefined
    let skipped: Point | undefined
    for await (const point of this.#points()) {
      if (point.point < from) previous = point
      else if ((point.point - from) % step === 0) {
        yield pointView(point, shape, previous?.context)
        previous = point
        skipped = undefined
      } else skipped = point
    }
    if (skipped) yield pointView(skipped, shape)
  }

  async point(number: number): Promise<unknown> {
    const [point] = await this.#pick(number)
    return pointView(point as Point, 'full')
  }

  async diff(from: number, to: number): Promise<unknown> {
    const [first, second] = await this.#pick(from, to)
    return { from, to, ...changeView((first as Point).context, (second as Point).context) }
  }

  async fold(moment: Moment, parts?: readonly FoldPart[]): Promise<unknown> {
    const { seq, offset, state } = await this.#stateAt(moment)
    const point = state.points > 0 ? state.points - 1 : null
    return { run_id: state.identity.run_id, seq, offset, point, folded: foldedView(state, parts) }
  }

  async usage(): Promise<unknown> {
    const tally = new UsageTally()
    let run_id: string | null = null
    for await (const item of this.#items(scanRecord)) {
      if (item.type !== 'record') continue
      if (!tally.wants(item.record.kind) && run_id !== null) continue
      const record = readRecord(item.frame.payload)
      if (record.kind === 'Header') run_id ??= record.identity.run_id
      tally.add(record)
    }
    return { run_id, ...tally.value() }
  }

  verify(from?: number, to?: number): Promise<unknown> {
    return ofFile(this.file, verifyBytes(this.file, from, to))
  }

  /** None where the first readable record is no Header (LVR1.md 4.5). */
  async *#points(): AsyncGenerator<Point> {
    let state: Folding
    for await (const item of this.#items(readRecord)) {
      if (item.type !== 'record') continue
      state = fold(state, item.record, { messages: false, inference_usage: false })
      const point = pointAfter(state, { seq: item.frame.seq, record: item.record })
      if (point) yield point
    }
  }

  /** Some points by number; stops reading at the last one wanted. */
  async #pick(...numbers: readonly number[]): Promise<Point[]> {
    const found = new Map<number, Point>()
    let count = 0
    const last = Math.max(...numbers)
    for await (const point of this.#points()) {
      count = point.point + 1
      if (numbers.includes(point.point)) found.set(point.point, point)
      if (point.point === last) break
    }
    return numbers.map((number) => {
      const point = found.get(number)
      if (point) return point
      throw new RunfoldError('range_not_satisfiable', `there is no point ${number}: there are ${count}`)
    })
  }

  /** The state after `seq` frames, after a point, or after the last frame whose record is not newer than `at`. */
  async #stateAt(moment: Moment): Promise<{ seq: number; offset: number; state: Folded }> {
    let now: Folding
    let place = { seq: 0, offset: PREAMBLE.length }
    let chosen = moment.at === undefined ? undefined : { ...place, state: now }
    for await (const item of this.#items(readRecord)) {
      if (item.type === 'torn' || place.seq === moment.seq) break
      const { seq, offset, length } = item.frame
      place = { seq: seq + 1, offset: offset + length }
      if (item.type !== 'record') continue
      now = fold(now, item.record)
      const { at } = item.record
      if (moment.at !== undefined && at !== null && at <= moment.at) chosen = { ...place, state: now }
      if (isAt(now, moment.point)) break
    }
    if (moment.seq !== undefined && moment.seq > place.seq)
      throw pastEnd(counted(moment.seq, 'frame'), place.seq)
    if (moment.point !== undefined && !isAt(now, moment.point))
      throw pastEnd(`point ${moment.point}`, place.seq)
    const { state, ...where } = chosen ?? { ...place, state: now }
    return { ...where, state: headed(state, moment, this.file) }
  }
}

const isAt = (state: Folding, point: number | undefined): boolean =>
  point !== undefined && typeof state === 'object' && state.points === point + 1

const pastEnd = (what: string, frames: number) =>
  new RunfoldError(
    'range_not_satisfiable',
    `there is no ${what}: the archive has ${counted(frames, 'frame')}`,
  )

const headed = (state: Folding, moment: Moment, file: string): Folded => {
  if (state && state !== NO_HEADER) return state
  throw namedAfter(file, noHeader(state, moment))
}
