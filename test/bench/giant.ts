import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, Redacted } from '#client'
import { PREAMBLE } from '#codec'
import { sendUpload } from '../../shared/client/upload.ts'
import { BUCKET, SECRET_ACCESS_KEY, startStandIns, TABLE } from '../kit/stand-ins.ts'
import { frameOf } from '../kit/stored-run.ts'
import { type Figures, rounded } from './figures.ts'
import { type BenchServer, startBenchServer, TOKEN } from './server.ts'

const MiB = 1024 * 1024
const TEXT_BYTES = 200 * MiB
/** Of what goes the same way before, so that idle is that of a server which has all its code at work. */
const SMALL_TEXT_BYTES = 6 * MiB
/** How often it is looked whether maintenance is done, and for how long nothing must have changed. */
const LOOK_MS = 250
const QUIET_LOOKS = 20

const HEADER =
  '{"Header":{"identity":{"run_id":"giant","machine_id":"m","world_id":"w","created_at":1},"meta":{"run_id":"giant","agent_name":"a","agent_path":"/a","task":"t","status":"running","current_stage":"s","stage_index":0,"num_stages":1,"iteration":0,"prompt_tokens":0,"completion_tokens":0,"workdir":"/w","started_at":1,"updated_at":1}}}'
const ENDED = '{"StatusChanged":{"status":"complete","at":3}}'

/** Records around so long a text: one that passes by, and one that stays in the state. */
const KINDS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  message: ['{"Message":{"message":{"role":"user","content":"', '"},"at":2}}'],
  window: [
    '{"ContextCheckpoint":{"snapshot":{"stage_name":"s","total_tokens":1,"max_tokens":9,"regions":[{"name":"r","kind":"k","current_tokens":1,"max_tokens":9,"entries":[{"content":"',
    '","tokens":1,"kind":{"type":"Text"},"taint":"Internal"}]}]},"at":2}}',
  ],
}

/**
 * How much memory the server takes over idle while a frame of 200 MiB is uploaded in parts, committed, folded, merged with its
 * neighbours and downloaded; of the kinds of frames, the worst. The stand-ins run in this process, so that the server alone
 * is counted.
 */
export async function giantBench(log: (line: string) => void): Promise<Figures> {
  const worst = { local: 0, aws: 0 }
  for (const kind of Object.keys(KINDS)) {
    for (const store of ['local', 'aws'] as const) {
      const over = await overIdle(store, kind)
      log(`giant: a ${kind} on ${store}, ${over} MiB over idle`)
      worst[store] = Math.max(worst[store], over)
    }
  }
  return { local_over_idle_mib: worst.local, aws_over_idle_mib: worst.aws }
}

async function overIdle(store: 'local' | 'aws', kind: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-giant-'))
  const standIns = store === 'aws' ? await startStandIns() : undefined
  try {
    const settings = standIns && {
      RUNFOLD_STORE: 'aws',
      RUNFOLD_BUCKET: BUCKET,
      RUNFOLD_TABLE: TABLE,
      RUNFOLD_ENDPOINT_S3: standIns.s3,
      RUNFOLD_ENDPOINT_DYNAMODB: standIns.dynamodb,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'standin',
      AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    }
    const server = await startBenchServer(folder, settings)
    try {
      await roundTrip(server, 'small', frameOfText(kind, SMALL_TEXT_BYTES))
      const idle = server.residentBytes()
      await roundTrip(server, 'giant', frameOfText(kind, TEXT_BYTES))
      return rounded((server.peakBytes() - idle) / MiB, 0)
    } finally {
      await server.stop()
    }
  } finally {
    await standIns?.stop()
    rmSync(folder, { recursive: true })
  }
}

async function roundTrip(server: BenchServer, run: string, giant: Uint8Array): Promise<void> {
  const client = createClient({ url: server.url, token: new Redacted(TOKEN) })
  const { epoch } = await client.acquire(run, { machine_id: 'm', world_id: 'w' })
  const first = Buffer.concat([PREAMBLE, frameOf(HEADER)])
  await client.append(run, { offset: 0, epoch, bytes: first })
  const end = first.length + giant.length
  await sendUpload(client, run, {
    epoch,
    offset: first.length,
    end,
    read: async (start, stop) => giant.subarray(start - first.length, stop - first.length),
  })
  await quiet(server, run)
  const last = frameOf(ENDED)
  await client.append(run, { offset: end, epoch, bytes: last })
  await client.release(run, epoch)
  await quiet(server, run)
  const wanted = createHash('sha256').update(first).update(giant).update(last).digest('hex')
  if ((await downloaded(server, run)) !== wanted) throw new Error('other bytes came back')
}

/** Until maintenance has had nothing to do for a while. */
async function quiet(server: BenchServer, run: string): Promise<void> {
  let seen = ''
  for (let same = 0; same < QUIET_LOOKS; same++) {
    await sleep(LOOK_MS)
    // Stand-ins that copy what is so large answer nothing else meanwhile.
    const { stored, snapshot } = await server
      .json('GET', `/v1/runs/${run}`, undefined)
      .catch(() => ({}) as Record<string, unknown>)
    const found = JSON.stringify([stored, snapshot, stored ? 0 : same])
    if (found !== seen) same = 0
    seen = found
  }
}

async function downloaded({ url }: BenchServer, run: string): Promise<string> {
  const answer = await fetch(`${url}/v1/runs/${run}/archive`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  if (!answer.ok || !answer.body) throw new Error(`the download: ${answer.status}`)
  const hash = createHash('sha256')
  for await (const chunk of answer.body) hash.update(chunk)
  return hash.digest('hex')
}

/** The text is one that packs to three quarters of itself at best. */
function frameOfText(kind: string, bytes: number): Uint8Array {
  const [before, after] = KINDS[kind] ?? ['', '']
  const text = Buffer.alloc(bytes)
  let state = 1
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text[at] = LETTERS.charCodeAt(state >>> 26)
  }
  return frameOf(Buffer.concat([Buffer.from(before), text, Buffer.from(after)]))
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
