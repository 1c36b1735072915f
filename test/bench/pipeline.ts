import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { createClient, openAppender, Redacted } from '#client'
import { encodeFrame, encodeRecord } from '#codec'
import { demoRecords } from '../../functions/cli/demo-run.ts'
import { type Figures, median, rounded } from './figures.ts'
import { startBenchServer, TOKEN } from './server.ts'

const RECORDS = 3000
const ROUNDS = 5
const BATCHES = { '64k': 65_536, '256k': 262_144, '1m': 1_048_576, '4m': 4_194_304 }
const LINGERS_MS = [0, 5, 20, 100]
/** A daemon's turn: a few records at once, then the model thinks. */
const TURN = 4
const TURNS = 60
const THINKS_MS = 25

/**
 * Appending as a run's owner through HTTP on the local store: what batches of a size carry a second, how many appends a
 * linger saves a daemon whose records come in turns and how long an acknowledgement takes, and what packing costs and gains.
 */
export async function pipelineBench(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-pipeline-'))
  const server = await startBenchServer(join(folder, 'data'))
  const figures: Figures = {}
  try {
    const client = createClient({ url: server.url, token: new Redacted(TOKEN) })
    const capabilities = await client.capabilities()
    const frames = [...demoRecords({ seed: 1, records: RECORDS })].map((record) =>
      encodeFrame(encodeRecord(record)),
    )
    const bytes = frames.reduce((sum, { length }) => sum + length, 0)
    const open = async (run: string, options: object, onAck = () => {}) => {
      const lease = await client.acquire(run, { machine_id: 'bench', world_id: run })
      return openAppender({ client, run, lease, capabilities, onAck, ...options })
    }
    const rates = new Map<string, number[]>()
    // In turn, so that a busy machine is busy for all of them; the first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, batchBytes] of Object.entries(BATCHES)) {
        const appender = await open(`batch-${name}-${round}`, { batchBytes, batchWrites: 1e6 })
        const began = performance.now()
        for (const frame of frames) await appender.write(frame)
        await appender.close()
        const rate = bytes / 1e3 / (performance.now() - began)
        if (round > 0) rates.set(name, [...(rates.get(name) ?? []), rate])
      }
    }
    for (const [name, each] of rates) {
      figures[`batch_${name}_mb_s`] = rounded(median(each), 1)
      log(`pipeline: batches of ${name}: ${figures[`batch_${name}_mb_s`]} MB/s`)
    }
    for (const lingerMs of LINGERS_MS) {
      let appends = 0
      const waits: number[] = []
      const appender = await open(`linger-${lingerMs}`, { lingerMs }, () => appends++)
      for (let turn = 0; turn < TURNS; turn++) {
        const began = performance.now()
        for (const frame of frames.slice(turn * TURN, (turn + 1) * TURN)) {
          await appender.write(frame)
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
        while (appender.tail < appender.end) await new Promise((resolve) => setTimeout(resolve, 1))
        waits.push(performance.now() - began)
        await new Promise((resolve) => setTimeout(resolve, THINKS_MS))
      }
      await appender.close()
      figures[`linger_${lingerMs}_appends_per_turn`] = rounded(appends / TURNS)
      figures[`linger_${lingerMs}_ack_ms`] = rounded(median(waits), 1)
      log(
        `pipeline: linger ${lingerMs} ms: ${rounded(appends / TURNS)} appends a turn, ${rounded(median(waits), 1)} ms`,
      )
    }
    Object.assign(figures, packing(Buffer.concat(frames.slice(0, 1000))))
    return figures
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function packing(batch: Uint8Array): Figures {
  const figures: Figures = {}
  for (const [name, pack] of Object.entries({ gzip: gzipSync, zstd: zstdCompressSync })) {
    const began = performance.now()
    const { length } = pack(batch)
    figures[`${name}_mb_s`] = rounded(batch.length / 1e3 / (performance.now() - began), 0)
    figures[`${name}_share`] = rounded(length / batch.length)
  }
  return figures
}
