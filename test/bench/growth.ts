import { type Figures, rounded } from './figures.ts'
import { bill, readsOf, writesOf } from './workload.ts'

const SIZES = [1_000, 10_000, 100_000]
const FRAME_BYTES = 300

/**
 * How requests and stored bytes grow with the appends to one run (P9): exponents of the power laws through the first and
 * the last size, 1 where they are proportional. Stored bytes are those at the worst time, garbage included; the bytes that
 * merges move grow as n log n, and are told beside them.
 */
export async function growthBench(log: (line: string) => void): Promise<Figures> {
  const figures: Figures = {}
  const points: { appends: number; requests: number; bytes: number; moved: number }[] = []
  for (const appends of SIZES) {
    const {
      readings,
      storedObjects,
      peakBytes: bytes,
    } = await bill({ appends, batch: 1, frameBytes: FRAME_BYTES })
    const { put, copy, get, list } = readings
    const requests = writesOf(readings) + readsOf(readings) + list.requests
    const moved = put.bytes + copy.bytes + get.bytes
    log(
      `growth: ${appends} appends, ${requests} requests, ${(bytes / 1e6).toFixed(1)} MB stored, ${(moved / 1e6).toFixed(1)} MB moved`,
    )
    points.push({ appends, requests, bytes, moved })
    figures[`requests_per_append_${appends}`] = rounded(requests / appends, 3)
    figures[`stored_bytes_per_append_${appends}`] = rounded(bytes / appends, 0)
    figures[`moved_bytes_per_append_${appends}`] = rounded(moved / appends, 0)
    figures[`objects_${appends}`] = storedObjects
  }
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return figures
  const exponent = (of: (point: (typeof points)[number]) => number) =>
    rounded(Math.log(of(last) / of(first)) / Math.log(last.appends / first.appends), 3)
  figures.requests_exponent = exponent(({ requests }) => requests)
  figures.bytes_exponent = exponent(({ bytes }) => bytes)
  figures.moved_bytes_exponent = exponent(({ moved }) => moved)
  return figures
}
