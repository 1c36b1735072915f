import { mkdtempSync, rmSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFrame, encodeRecord, PREAMBLE } from '#codec'
import { type Figures, median, quantile, rounded, timed } from './figures.ts'
import { type BenchServer, startBenchServer } from './server.ts'

const ROUNDS = 5
const PER_ROUND = 150
const WRITERS = 8
const FRAME_BYTES = 4096

/**
 * Appends of one 4 KiB frame through HTTP on the local store, one after the other and by 8 writers at once, against the
 * bare write + fsync + rename + folder fsync of the same bytes, in turn within each round.
 */
export async function appendBench(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-append-'))
  const server = await startBenchServer(join(folder, 'data'))
  try {
    const single = await openRun(server, 'bench-single')
    const many = await Promise.all(
      Array.from({ length: WRITERS }, (_, i) => openRun(server, `bench-many-${i}`)),
    )
    const bare: number[] = []
    const appends: number[] = []
    const ratios: number[] = []
    const perSecond: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const bareRound: number[] = []
      const appendRound: number[] = []
      for (let i = 0; i < PER_ROUND; i++) {
        bareRound.push(await timed(() => barePut(folder, `${round}-${i}`)))
        appendRound.push(await timed(single))
      }
      const started = performance.now()
      await Promise.all(
        many.map(async (append) => {
          for (let i = 0; i < PER_ROUND / 2; i++) await append()
        }),
      )
      perSecond.push((WRITERS * Math.floor(PER_ROUND / 2)) / ((performance.now() - started) / 1000))
      ratios.push(median(appendRound) / median(bareRound))
      bare.push(...bareRound)
      appends.push(...appendRound)
      log(
        `append: round ${round}: append ${median(appendRound).toFixed(2)} ms, bare ${median(bareRound).toFixed(2)} ms, ${perSecond.at(-1)?.toFixed(0)} appends/s by ${WRITERS}`,
      )
    }
    return {
      append_p50_ms: rounded(quantile(appends, 0.5)),
      append_p99_ms: rounded(quantile(appends, 0.99)),
      bare_fsync_p50_ms: rounded(quantile(bare, 0.5)),
      bare_fsync_p99_ms: rounded(quantile(bare, 0.99)),
      append_vs_bare: rounded(median(ratios)),
      appends_per_s_1_writer: rounded(1000 / (appends.reduce((sum, ms) => sum + ms, 0) / appends.length), 0),
      [`appends_per_s_${WRITERS}_writers`]: rounded(median(perSecond), 0),
      server_peak_mib: rounded(server.peakBytes() / 2 ** 20, 0),
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const frame = encodeFrame(
  encodeRecord({
    Message: { message: { role: 'user', content: 'x'.repeat(FRAME_BYTES - 100) }, at: 1_790_000_000 },
  }),
)

/** A run with a lease; the function it gives appends one more frame. */
async function openRun(server: BenchServer, run: string): Promise<() => Promise<void>> {
  const lease = await server.json('POST', `/v1/runs/${run}/lease`, { machine_id: 'bench', world_id: run })
  const epoch = Number(lease.epoch)
  let tail = 0
  const send = async (bytes: Uint8Array) => {
    const ack = await server.bytes(`/v1/runs/${run}/frames?offset=${tail}&epoch=${epoch}`, bytes)
    tail = Number(ack.tail)
  }
  await send(PREAMBLE)
  return () => send(frame)
}

async function barePut(folder: string, name: string): Promise<void> {
  const temporary = join(folder, `${name}.tmp`)
  const file = await open(temporary, 'w')
  await file.writeFile(frame)
  await file.sync()
  await file.close()
  await rename(temporary, join(folder, name))
  const parent = await open(folder, 'r')
  await parent.sync()
  await parent.close()
}
