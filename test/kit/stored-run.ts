import { createHash } from 'node:crypto'
import { encodeFrame, encodeRecord, PREAMBLE } from '#codec'
import type { RunKey } from '#schema'
import { type AppendRequest, type Archive, createArchive, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { parseNoteKey, runOfKey } from '../../shared/store/keys.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'

export const LIMITS = { max_batch_bytes: 32 << 20, max_frame_bytes: 256 << 20 }

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function joined(...chunks: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(chunks))
}

export async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return joined(...all)
}

export function frameOf(text: string | Uint8Array): Uint8Array {
  return encodeFrame(typeof text === 'string' ? new TextEncoder().encode(text) : text)
}

export function say(content: string): Uint8Array {
  return encodeFrame(encodeRecord({ Message: { message: { role: 'user', content }, at: 1_790_000_001 } }))
}

/** Keys of what is stored, but for what only a rebuild goes by. */
export async function objectKeys({ objects }: StorePorts, prefix = 'runs/'): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of objects.list(prefix)) {
    const run = runOfKey(key)
    if (!run || !parseNoteKey(run, key)) keys.push(key)
  }
  return keys
}

/** An archive on memory ports and a clock that stands still. */
export function testArchive(): { archive: Archive; ports: StorePorts; clock: ManualClock } {
  const clock = manualClock()
  const ports = memoryPorts(clock)
  return { archive: createArchive(ports, { clock, limits: LIMITS }), ports, clock }
}

/** A run and its writer, who remembers what was stored. */
export class StoredRun {
  readonly archive: Archive
  readonly key: RunKey
  readonly owner: { readonly machine_id: string; readonly world_id: string }
  epoch = 0
  bytes: Uint8Array = new Uint8Array()

  constructor(archive: Archive, run_id: string, owner: string) {
    this.archive = archive
    this.key = { tenant: 'default', run_id }
    this.owner = { machine_id: owner, world_id: 'world' }
  }

  static async begin(archive: Archive, run_id = 'run', owner = 'machine'): Promise<StoredRun> {
    const run = new StoredRun(archive, run_id, owner)
    run.epoch = (await archive.acquire(run.key, run.owner)).answer.epoch
    return run
  }

  get tail(): number {
    return this.bytes.length
  }

  /** Appends frames at the tail, with the preamble first in an empty run. */
  async append(...frames: readonly Uint8Array[]) {
    const batch = this.tail === 0 ? joined(PREAMBLE, ...frames) : joined(...frames)
    const answer = await this.send({ bytes: batch })
    this.bytes = joined(this.bytes, batch)
    return answer
  }

  send(request: Partial<AppendRequest>) {
    const { offset = this.tail, epoch = this.epoch, bytes = say('x') } = request
    return this.archive.append(this.key, { offset, epoch, bytes })
  }

  async stored(): Promise<Uint8Array> {
    const view = await this.archive.view(this.key)
    return collected(view.bytes(0, view.head.tail))
  }
}
