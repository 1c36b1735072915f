import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import {
  jsonBytes,
  jsonText,
  PREAMBLE,
  readArchive,
  readLater,
  readStream,
  streamFrameBatches,
  walkFrames,
} from '#codec'
import { type Folding, fold, foldedView, NO_HEADER, points, pointView } from '#fold'
import { type ArchiveView, pointsStream } from '#store'
import { median } from './figures.ts'
import { JsonFold } from './json-fold.ts'

// One measured task in a process of its own: `fold-task.ts TASK FILE POINTS` prints {coldSeconds, seconds, threadSeconds,
// peakBytes, answer}, the last a digest where the task answers as JSON, for comparing. The task is done several times: first in
// a process that has just begun, with nothing compiled, and then as in a server that has run for a while. What folds a file
// that is in memory is measured without reading it, which would cost all of them the same; what streams reads as it goes.

const decoder = new TextDecoder()
const framesOf = (archive: Uint8Array) => walkFrames(archive.subarray(PREAMBLE.length))

const IN_MEMORY: Record<string, (archive: Uint8Array) => unknown> = {
  json_parse(archive) {
    let last: unknown
    for (const frame of framesOf(archive)) last = JSON.parse(decoder.decode(frame.payload))
    return last
  },
  json_parse_fold(archive) {
    const fold = new JsonFold()
    for (const { payload } of framesOf(archive)) fold.take(payload)
    return fold.answer()
  },
  walk(archive) {
    let bytes = 0
    for (const frame of framesOf(archive)) bytes += frame.length
    return bytes
  },
  read(archive) {
    let count = 0
    for (const item of readArchive(archive)) count += item.type === 'record' ? 1 : 0
    return count
  },
  fold(archive) {
    let state: Folding
    for (const item of readArchive(archive)) {
      if (item.type === 'record') state = fold(state, item.record)
    }
    return answerOf(state)
  },
  fold_trusted(archive) {
    let state: Folding
    for (const { payload } of framesOf(archive)) state = fold(state, readLater(payload))
    return answerOf(state)
  },
  full_window_replay(archive) {
    const fold = new JsonFold()
    let length = 0
    for (const { payload } of framesOf(archive)) {
      if (fold.take(payload)) length += JSON.stringify(fold.context).length
    }
    return length
  },
  replay(archive) {
    return [...points(readArchive(archive))]
  },
}

/** All that the records amount to, as JSON. */
function answerOf(state: Folding): Uint8Array {
  if (state === undefined || state === NO_HEADER) throw new Error('the archive must begin with a Header')
  return jsonBytes(foldedView(state))
}

const STREAMED: Record<string, (file: string, points: number) => Promise<string>> = {
  async json_parse_points_streamed(file) {
    const fold = new JsonFold()
    let last: unknown
    const start = PREAMBLE.length
    for await (const frames of streamFrameBatches(chunksOf(file, start), { offset: start }, { lent: true })) {
      for (const { seq, payload } of frames) if (fold.take(payload)) last = fold.summary(seq)
    }
    return JSON.stringify(last)
  },
  async points_streamed(file) {
    let last: unknown
    for await (const point of points(readStream(chunksOf(file)))) {
      last = pointView(point, 'summary')
    }
    return jsonText(last)
  },
  /** As the server answers `points?shape=summary` of a run that has no snapshots. */
  async points_trusted_streamed(file, count) {
    let last: unknown
    const asked = { shape: 'summary', order: 'asc' } as const
    for await (const point of pointsStream(viewOf(file, count), asked)) last = point
    return jsonText(last)
  },
}

const CHUNK_BYTES = 1 << 20

const chunksOf = (file: string, start = 0, end = Number.POSITIVE_INFINITY): AsyncIterable<Uint8Array> =>
  createReadStream(file, { start, end: end - 1, highWaterMark: CHUNK_BYTES })

/** The file as an archive that was checked when it was appended. */
function viewOf(file: string, points: number): ArchiveView {
  const head = { life: 1, tail: statSync(file).size, points, unreadable: 0, snapshot: null }
  return {
    run: { tenant: 'default', run_id: 'run' },
    head: head as unknown as ArchiveView['head'],
    bytes: (start, end) => chunksOf(file, start, end),
    derived: async () => undefined,
  }
}

/** The first time is the cold one. */
const TIMES = 4

const [name = '', file = '', count] = process.argv.slice(2)
const idle = process.memoryUsage.rss()
const archive = name in IN_MEMORY ? new Uint8Array(readFileSync(file).buffer) : undefined

async function once() {
  const started = performance.now()
  const before = process.threadCpuUsage()
  const kept = archive ? IN_MEMORY[name]?.(archive) : await STREAMED[name]?.(file, Number(count))
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.threadCpuUsage(before)
  if (kept === undefined) throw new Error(`${name} gives nothing`)
  const isAnswer = typeof kept === 'string' || kept instanceof Uint8Array
  return {
    seconds,
    threadSeconds: (user + system) / 1e6,
    answer: isAnswer ? createHash('sha256').update(kept).digest('hex') : null,
  }
}

const cold = await once()
const warm = []
while (warm.length < TIMES - 1) warm.push(await once())
const told = {
  coldSeconds: cold.seconds,
  seconds: median(warm.map(({ seconds }) => seconds)),
  threadSeconds: median(warm.map(({ threadSeconds }) => threadSeconds)),
  peakBytes: Math.max(0, process.resourceUsage().maxRSS * 1024 - idle),
  answer: cold.answer,
}
console.log(JSON.stringify(told))
if (warm.some(({ answer }) => answer !== cold.answer)) process.exit(1)
