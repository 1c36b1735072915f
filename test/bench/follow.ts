import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, Redacted } from '#client'
import { PREAMBLE } from '#codec'
import { frameOf } from '../kit/stored-run.ts'
import { type Figures, quantile, rounded } from './figures.ts'
import { startBenchServer, TOKEN } from './server.ts'

const FOLLOWERS = [1, 200]
const APPENDS = 40
const BETWEEN_MS = 137

/** From the start of an append until its record has reached a follower, for one follower and for many of one run. */
export async function followBench(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-follow-'))
  const server = await startBenchServer(join(folder, 'data'))
  try {
    const figures: Figures = {}
    for (const followers of FOLLOWERS) {
      const ms = await latencies(server, `follow-${followers}`, followers)
      const [p50, p99] = [quantile(ms, 0.5), quantile(ms, 0.99)]
      log(`follow: ${followers} followers: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`)
      figures[`follow_p50_ms_${followers}`] = rounded(p50, 0)
      figures[`follow_p99_ms_${followers}`] = rounded(p99, 0)
    }
    figures.follow_server_peak_mib = rounded(server.peakBytes() / 2 ** 20, 0)
    return figures
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function latencies(
  server: Awaited<ReturnType<typeof startBenchServer>>,
  run: string,
  followers: number,
): Promise<number[]> {
  const lease = await server.json('POST', `/v1/runs/${run}/lease`, { machine_id: 'bench', world_id: run })
  const append = (offset: number, bytes: Uint8Array) =>
    server.bytes(`/v1/runs/${run}/frames?offset=${offset}&epoch=${lease.epoch}`, bytes)
  let tail = Number((await append(0, PREAMBLE)).tail)

  const sentAt = new Map<number, number>()
  const ms: number[] = []
  const follow = async () => {
    const client = createClient({ url: server.url, token: new Redacted(TOKEN) })
    let seen = 0
    for await (const { offset } of client.follow(run, tail)) {
      ms.push(performance.now() - (sentAt.get(offset) ?? Number.NaN))
      if (++seen === APPENDS) return
    }
  }
  const following = Promise.all(Array.from({ length: followers }, follow))
  await new Promise((resolve) => setTimeout(resolve, 1000))
  for (let n = 0; n < APPENDS; n++) {
    sentAt.set(tail, performance.now())
    const bytes = frameOf(`{"Message":{"message":{"role":"user","content":"${n}"},"at":${n}}}`)
    tail = Number((await append(tail, bytes)).tail)
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  }
  await following
  return ms
}
