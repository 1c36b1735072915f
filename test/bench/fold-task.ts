import { createReadStream, readFileSync } from 'node:fs'
import { PREAMBLE, readArchive, readStream, readTrusted, streamFrames, walkFrames } from '#codec'
import { type Folding, fold, pointAfter, points, pointView, WITHOUT_LISTS } from '#fold'
import { JsonFold } from './json-fold.ts'

// One measured task in a process of its own: `fold-task.ts TASK FILE` prints {seconds, peakBytes}. What folds a file
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
    return fold
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
    for (const item of readArchive(archive)) if (item.type === 'record') state = fold(state, item.record)
    return state
  },
  fold_trusted(archive) {
    let state: Folding
    for (const { payload } of framesOf(archive)) state = fold(state, readTrusted(payload))
    return state
  },
  replay(archive) {
    return [...points(readArchive(archive))]
  },
}

const STREAMED: Record<string, (file: string) => Promise<unknown>> = {
  async json_parse_points_streamed(file) {
    const fold = new JsonFold()
    let last: unknown
    for await (const { payload } of streamedFrames(file)) if (fold.take(payload)) last = fold.summary()
    return last
  },
  async points_streamed(file) {
    let last: unknown
    for await (const point of points(readStream(createReadStream(file)))) last = pointView(point, 'summary')
    return last
  },
  async points_trusted_streamed(file) {
    let state: Folding
    let last: unknown
    for await (const { seq, payload } of streamedFrames(file)) {
      const record = readTrusted(payload)
      state = fold(state, record, WITHOUT_LISTS)
      const point = pointAfter(state, { seq, record })
      if (point) last = pointView(point, 'summary')
    }
    return last
  },
}

const streamedFrames = (file: string) =>
  streamFrames(createReadStream(file, { start: PREAMBLE.length, highWaterMark: 1 << 20 }))

const [name = '', file = ''] = process.argv.slice(2)
const idle = process.memoryUsage.rss()
const archive = name in IN_MEMORY ? new Uint8Array(readFileSync(file).buffer) : undefined
const started = performance.now()
const kept = archive ? IN_MEMORY[name]?.(archive) : await STREAMED[name]?.(file)
const seconds = (performance.now() - started) / 1000
const peakBytes = Math.max(0, process.resourceUsage().maxRSS * 1024 - idle)
console.log(JSON.stringify({ seconds, peakBytes }))
if (kept === undefined) process.exit(1)
