import { createReadStream, readFileSync } from 'node:fs'
import { PREAMBLE, readArchive, readStream, walkFrames } from '#codec'
import { fold, points, pointView } from '#fold'

// One measured task in a process of its own: `fold-task.ts TASK FILE` prints {seconds, peakBytes}.

const decoder = new TextDecoder()
const framesOf = (file: string) => walkFrames(readFileSync(file).subarray(PREAMBLE.length))

const TASKS: Record<string, (file: string) => unknown> = {
  json_parse(file) {
    let last: unknown
    for (const frame of framesOf(file)) last = JSON.parse(decoder.decode(frame.payload))
    return last
  },
  walk(file) {
    let bytes = 0
    for (const frame of framesOf(file)) bytes += frame.length
    return bytes
  },
  read(file) {
    let count = 0
    for (const item of readArchive(readFileSync(file))) count += item.type === 'record' ? 1 : 0
    return count
  },
  fold(file) {
    let state: ReturnType<typeof fold>
    for (const item of readArchive(readFileSync(file)))
      if (item.type === 'record') state = fold(state, item.record)
    return state
  },
  replay(file) {
    return [...points(readArchive(readFileSync(file)))]
  },
  async points_streamed(file) {
    let last: unknown
    for await (const point of points(readStream(createReadStream(file)))) last = pointView(point, 'summary')
    return last
  },
}

const [name = '', file = ''] = process.argv.slice(2)
const idle = process.memoryUsage.rss()
const started = performance.now()
const kept = await TASKS[name]?.(file)
const seconds = (performance.now() - started) / 1000
const peakBytes = Math.max(0, process.resourceUsage().maxRSS * 1024 - idle)
console.log(JSON.stringify({ seconds, peakBytes }))
if (kept === undefined) process.exit(1)
