import { loadDigest, PREAMBLE } from '#codec'
import { isRunfoldError, type ProblemCode } from '#schema'
import { type Archive, createArchive, createMaintainer, type Head, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { merge } from '../../shared/store/maintain/merge.ts'
import { piecesOf } from '../../shared/store/maintain/merge-policy.ts'
import { SNAPSHOT_POLICY, type SnapshotPolicy } from '../../shared/store/maintain/snapshot-policy.ts'
import { sweep } from '../../shared/store/maintain/sweep.ts'
import { ownUploads } from '../../shared/store/uploads/own-uploads.ts'
import { Gate } from './faulty-ports.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { again, type Batch, batchAt, ModelClient, RUN, workerOf } from './model-client.ts'
import type { Told } from './model-told.ts'
import { putPart } from './put-part.ts'
import { collected, joined, LIMITS, say, sha256 } from './stored-run.ts'

// A run with a few batches in it, and actors that do things to it through a gate; what they were told is judged by
// model-check.ts.

/** An upload whose parts are stored, and what completes it. */
export interface OpenUpload extends Batch {
  readonly upload_id: string
  readonly parts: readonly { readonly part_number: number; readonly etag: string }[]
}

/** A known bug: what the actors have instead of the real thing. */
export interface Plant {
  ports?(ports: StorePorts): StorePorts
  archive?(archive: Archive): Archive
  readonly graceMs?: number
}

export interface ModelOptions {
  /** Stored before anybody moves. */
  readonly batches: number
  /** Of the sweep; none is the hardest case. */
  readonly graceMs?: number
  /** None of so short an archive unless told. */
  readonly snapshots?: SnapshotPolicy | undefined
  readonly plant?: Plant | undefined
}

/** What an actor acts on, behind its gate. */
interface Scene {
  readonly archive: Archive
  readonly ports: StorePorts
  readonly client: ModelClient
  /** When it began, server time in ms. */
  at: number
}

const SECRET = new Uint8Array(32)

export class ModelRun {
  readonly clock: ManualClock = manualClock()
  readonly ports: StorePorts
  readonly gate: Gate
  readonly archive: Archive
  readonly graceMs: number
  readonly snapshots: SnapshotPolicy
  readonly told: Told = { acked: [], taken: [], read: [], refused: [] }
  /** Refusals that there is a reason for, given who plays. */
  readonly expected = new Set<ProblemCode>(['unavailable'])
  /** Epoch of the first owner. */
  epoch = 0
  tail = 0
  readonly #plant: Plant

  private constructor({ graceMs = 0, snapshots = SNAPSHOT_POLICY, plant = {} }: ModelOptions) {
    const ports = memoryPorts(this.clock)
    this.ports = { ...ports, uploads: ownUploads(ports.objects, this.clock, SECRET) }
    this.gate = new Gate(this.ports)
    this.archive = this.#archiveOn(this.ports)
    this.graceMs = graceMs
    this.snapshots = snapshots
    this.#plant = plant
  }

  /** A run of the first owner with so many stored batches. */
  static async begin(options: ModelOptions): Promise<ModelRun> {
    await loadDigest()
    const model = new ModelRun(options)
    const { answer } = await model.archive.acquire(RUN, workerOf('first'))
    model.epoch = answer.epoch
    model.told.taken.push(answer)
    for (let i = 0; i < options.batches; i++) {
      const bytes = i === 0 ? joined(PREAMBLE, say('batch 0')) : say(`batch ${i}`)
      const { tail } = await model.archive.append(RUN, { offset: model.tail, epoch: model.epoch, bytes })
      model.tail = tail
    }
    return model
  }

  /** A batch of the first owner at the tail. */
  batch(text: string): Batch {
    return batchAt(this.tail, this.epoch, text)
  }

  /** One request, whatever becomes of it. */
  append(actor: string, batch: Batch): void {
    for (const code of ['offset_conflict', 'overlap'] as const) this.expected.add(code)
    this.#act(actor, async ({ archive, client }) => client.acked(batch, await archive.append(RUN, batch)))
  }

  /** A client that does not give up. */
  write(actor: string, ...texts: readonly string[]): void {
    this.#act(actor, async ({ client }) => {
      for (const text of texts) await client.insist(this.batch(text))
    })
  }

  /** Opens an upload at the tail and stores its part, before anybody moves. */
  async opened(text: string): Promise<OpenUpload> {
    const batch = this.batch(text)
    const { epoch, offset, bytes } = batch
    const request = { epoch, offset, length: bytes.length, sha256: sha256(bytes) }
    const { upload_id, parts } = await this.archive.openUpload(RUN, request)
    const stored = parts.map(async ({ part_number, url, start, end }) => {
      const { etag } = await putPart(this.ports, url, bytes.subarray(start, end))
      return { part_number, etag }
    })
    return { ...batch, upload_id, parts: await Promise.all(stored) }
  }

  complete(actor: string, upload: OpenUpload): void {
    for (const code of ['offset_conflict', 'overlap'] as const) this.expected.add(code)
    this.#act(actor, async ({ archive, client }) => {
      const request = { parts: [...upload.parts] }
      client.acked(upload, await again(() => archive.completeUpload(RUN, upload.upload_id, request)))
    })
  }

  abort(actor: string, upload: OpenUpload): void {
    this.expected.add('not_found')
    this.#act(actor, ({ archive }) => again(() => archive.abortUpload(RUN, upload.upload_id)))
  }

  takeOver(actor: string, ...texts: readonly string[]): void {
    this.expected.add('fenced')
    this.#act(actor, ({ client }) => client.own(texts, true))
  }

  /** The first owner gives the run back and another takes it. */
  handOver(actor: string): void {
    this.expected.add('fenced')
    this.#act(actor, async ({ archive, client }) => {
      await again(() => archive.release(RUN, this.epoch))
      await client.own([])
    })
  }

  /** Takes any run that waits, as one of several who would; who finds none leaves. */
  claim(actor: string, ...texts: readonly string[]): void {
    this.expected.add('fenced')
    this.#act(actor, async ({ archive, client }) => {
      const request = { ...workerOf(actor), capabilities: [] }
      const answer = await again(() => archive.claim(RUN.tenant, request))
      if (answer) await client.writeOwn(answer, texts)
    })
  }

  renew(actor: string, ttl_s: number): void {
    this.#act(actor, async ({ archive }) => void (await archive.renew(RUN, { epoch: this.epoch, ttl_s })))
  }

  /** Deletes the run, makes it again under the same name, and writes in it. */
  startAnew(actor: string, ...texts: readonly string[]): void {
    // The old owner may come when the run is gone, or find it made again; so may an heir, who makes it himself.
    for (const code of ['not_found', 'fenced', 'lease_held', 'gap'] as const) this.expected.add(code)
    this.#act(actor, async ({ archive, client }) => {
      await again(() => archive.remove(RUN, { force: true }))
      await client.own(texts)
    })
  }

  /** Merges the extents from the first to the last named by their place. */
  merge(actor: string, first: number, last: number): void {
    this.#act(actor, ({ ports }) => this.#merge(ports, first, last))
  }

  sweep(actor: string): void {
    this.#act(actor, async ({ ports }) => void (await sweep(ports, this.clock, RUN, this.#grace)))
  }

  /** A merge and a sweep, and once more with what was merged then. */
  mergeAndSweepTwice(actor: string): void {
    this.#act(actor, async ({ ports }) => {
      for (let round = 0; round < 2; round++) {
        await this.#merge(ports, 0, 1)
        await sweep(ports, this.clock, RUN, this.#grace)
      }
    })
  }

  maintain(actor: string): void {
    const options = { graceMs: this.#grace, snapshots: this.snapshots }
    this.#act(actor, ({ ports }) => createMaintainer(ports, this.clock, options).pass())
  }

  read(actor: string): void {
    this.#act(actor, async (scene) => {
      const view = await scene.archive.view(RUN)
      scene.at = this.clock.now() // the grace of the sweep is of this head
      this.told.read.push({ head: view.head, bytes: await collected(view.bytes(0, view.head.tail)) })
    })
  }

  /** The grace of the sweep goes by, so many times. */
  passTime(times: number): void {
    this.#act('time', async () => {
      for (let n = 0; n < times; n++)
        await this.gate.step('time', 'passes', [], async () => this.clock.advance(this.graceMs))
    })
  }

  get #grace(): number {
    return this.#plant.graceMs ?? this.graceMs
  }

  async #merge(ports: StorePorts, first: number, last: number): Promise<void> {
    const head = (await ports.index.head(RUN)) as Head
    if (!head.alive) return
    const pieces = piecesOf(head.extents).slice(first, last + 1)
    await merge(ports, this.clock, RUN, head, pieces, { graceMs: this.#grace, snapshots: this.snapshots })
  }

  #act(actor: string, deed: (scene: Scene) => Promise<void>): void {
    this.gate.enter(actor)
    const gated = this.gate.of(actor)
    const whole = { ...gated, uploads: ownUploads(gated.objects, this.clock, SECRET) }
    const ports = this.#plant.ports?.(whole) ?? whole
    const plain = this.#archiveOn(ports)
    const archive = this.#plant.archive?.(plain) ?? plain
    const client = new ModelClient(actor, archive, this.gate, this.told)
    const scene: Scene = { archive, ports, client, at: this.clock.now() }
    const done = deed(scene).catch((thrown: unknown) => {
      for (const error of thrown instanceof AggregateError ? thrown.errors : [thrown]) {
        if (!isRunfoldError(error)) throw error
        this.told.refused.push({ actor, error, took: this.clock.now() - scene.at })
      }
    })
    void done.then(() => this.gate.leave(actor))
  }

  #archiveOn(ports: StorePorts): Archive {
    return createArchive(ports, { clock: this.clock, limits: LIMITS })
  }
}
