import { PREAMBLE } from '#codec'
import { createArchive, createMaintainer, type Metered, meter, type Readings, systemClock } from '#store'
import { awsTariff } from '#store/aws'
import { portsOf, type StandIns, startStandIns } from '../kit/stand-ins.ts'
import { frameOf, LIMITS } from '../kit/stored-run.ts'
import { castorePeer } from './castore.ts'
import { type Figures, median, quantile, rounded, timed } from './figures.ts'

const APPENDS = 400
const FRAME_BYTES = 4096

/** One way of keeping a growing journal: `append` adds a frame, `read` gives back all of them. */
export interface Peer {
  append(frame: Uint8Array): Promise<void>
  /** What is done between appending and reading, as time goes by. */
  settle?(): Promise<void>
  /** @returns how many bytes or characters came back */
  read(): Promise<number>
}

/**
 * The same journal kept in three ways on the same stand-ins of S3 and DynamoDB, an append at a time in turn: by runfold, by
 * castore (an item an event), and by uploading the whole file again for every append. Times are those of the stand-ins, so
 * only their ratios mean anything; the bytes sent are exact.
 */
export async function peersBench(log: (line: string) => void): Promise<Figures> {
  const standIns = await startStandIns()
  try {
    const peers: Record<'runfold', MeteredPeer> & Record<'castore' | 'whole_file', Peer> = {
      runfold: await runfoldPeer(standIns),
      castore: await castorePeer(standIns),
      whole_file: await wholeFilePeer(standIns),
    }
    const names = Object.keys(peers) as (keyof typeof peers)[]
    const ms = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<string, number[]>
    for (let n = 0; n < APPENDS; n++) {
      const frame = frameNumber(n)
      for (const name of names) ms[name]?.push(await timed(() => peers[name].append(frame)))
    }
    const figures: Figures = { peers_appends: APPENDS }
    const last = (name: string) => median((ms[name] ?? []).slice(-APPENDS / 4))
    for (const name of names) {
      await peers[name].settle?.()
      const reading = await Promise.all([timed(() => peers[name].read()), timed(() => peers[name].read())])
      figures[`peers_append_p50_ms_${name}`] = rounded(quantile(ms[name] ?? [], 0.5))
      figures[`peers_read_all_ms_${name}`] = rounded(Math.min(...reading), 0)
      log(
        `peers: ${name.padEnd(10)} append p50 ${figures[`peers_append_p50_ms_${name}`]} ms, at the end ${last(name).toFixed(2)} ms, read all ${figures[`peers_read_all_ms_${name}`]} ms`,
      )
    }
    figures.peers_append_castore_vs_runfold = rounded(last('castore') / last('runfold'))
    figures.peers_append_whole_file_vs_runfold = rounded(last('whole_file') / last('runfold'))
    const sent = sentBytes(peers.runfold.readings())
    const whole = ((APPENDS * (APPENDS + 1)) / 2) * FRAME_BYTES
    figures.peers_bytes_whole_file_vs_runfold = rounded(whole / sent, 1)
    log(`peers: whole file sent ${(whole / 1e6).toFixed(0)} MB, runfold ${(sent / 1e6).toFixed(1)} MB`)
    return figures
  } finally {
    await standIns.stop()
  }
}

interface MeteredPeer extends Peer {
  readings(): Readings
}

async function runfoldPeer(standIns: StandIns): Promise<MeteredPeer> {
  const { ports, readings } = meter(portsOf(standIns), awsTariff)
  const archive = createArchive(ports, { clock: systemClock, limits: LIMITS })
  const run = { tenant: 'default', run_id: 'peer' }
  const { epoch } = (await archive.acquire(run, { machine_id: 'bench', world_id: 'peer' })).answer
  let { tail } = await archive.append(run, { offset: 0, epoch, bytes: PREAMBLE })
  return {
    readings,
    append: async (bytes) => {
      tail = (await archive.append(run, { offset: tail, epoch, bytes })).tail
    },
    settle: async () => {
      await createMaintainer(ports, systemClock).pass()
    },
    read: async () => {
      let length = 0
      for await (const piece of (await archive.view(run)).bytes(0, tail)) length += piece.length
      return length
    },
  }
}

async function wholeFilePeer(standIns: StandIns): Promise<Peer> {
  const { objects } = portsOf(standIns, 'whole-file/')
  let file = new Uint8Array(0)
  return {
    append: async (bytes) => {
      file = Buffer.concat([file, bytes])
      await objects.put('run.lvr', [file], {})
    },
    read: async () => (await objects.get('run.lvr'))?.length ?? 0,
  }
}

const sentBytes = (readings: Readings): number =>
  (['put', 'copy'] satisfies Metered[]).reduce((sum, kind) => sum + readings[kind].bytes, 0)

const frameNumber = (n: number): Uint8Array => {
  const content = `${n} `.padEnd(FRAME_BYTES - 80, 'x')
  return frameOf(JSON.stringify({ Message: { message: { role: 'user', content }, at: n } }))
}
