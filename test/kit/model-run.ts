import { loadDigest, PREAMBLE } from '#codec'
import { type AppendAnswer, isRunfoldError, type LeaseAnswer, type ProblemCode, type RunKey } from '#schema'
import { type Archive, createArchive, createMaintainer, type Head, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { merge } from '../../shared/store/maintain/merge.ts'
import { piecesOf } from '../../shared/store/maintain/merge-policy.ts'
import { SNAPSHOT_POLICY, type SnapshotPolicy } from '../../shared/store/maintain/snapshot-policy.ts'
import { sweep } from '../../shared/store/maintain/sweep.ts'
import { ownUploads } from '../../shared/store/uploads/own-uploads.ts'
import { Gate } from './faulty-ports.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import type { Told } from './model-told.ts'
import { putPart } from './put-part.ts'
import { collected, joined, LIMITS, say, sha256 } from './stored-run.ts'

// A run with a few batches in it, and actors that do things to it through a gate; what they were told is judged by
// model-check.ts.

export const RUN: RunKey = { tenant: 'default', run_id: 'model' }

export interface Batch {
  readonly epoch: number
  readonly offset: number
  readonly bytes: Uint8Array
}

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
    const { answer } = await model.archive.acquire(RUN, owner('first'))
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
    const frame = said(this.epoch, text)
    return {
      epoch: this.epoch,
      offset: this.tail,
      bytes: this.tail === 0 ? joined(PREAMBLE, frame) : frame,
    }
  }

  /** One request, whatever becomes of it. */
  append(actor: string, batch: Batch): void {
    for (const code of ['offset_conflict', 'overlap'] as const) this.expected.add(code)
    this.#act(actor, async (archive) => this.#acked(actor, batch, await archive.append(RUN, batch)))
  }

  /** A client that does not give up. */
  write(actor: string, ...texts: readonly string[]): void {
    this.#act(actor, async (archive) => {
      for (const text of texts) await this.#insist(actor, archive, this.batch(text))
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
    this.#act(actor, async (archive) => {
      const request = { parts: [...upload.parts] }
      const answer = await again(() => archive.completeUpload(RUN, upload.upload_id, request))
      this.#acked(actor, upload, answer)
    })
  }

  abort(actor: string, upload: OpenUpload): void {
    this.expected.add('not_found')
    this.#act(actor, (archive) => again(() => archive.abortUpload(RUN, upload.upload_id)))
  }

  takeOver(actor: string, ...texts: readonly string[]): void {
    this.expected.add('fenced')
    this.#act(actor, (archive) => this.#own(actor, archive, texts, true))
  }

  /** The first owner gives the run back and another takes it. */
  handOver(actor: string): void {
    this.expected.add('fenced')
    this.#act(actor, async (archive) => {
      await again(() => archive.release(RUN, this.epoch))
      await this.#own(actor, archive, [])
    })
  }

  /** Takes any run that waits, as one of several who would; who finds none leaves. */
  claim(actor: string, ...texts: readonly string[]): void {
    this.expected.add('fenced')
    this.#act(actor, async (archive) => {
      const request = { ...owner(actor), capabilities: [] }
      const answer = await again(() => archive.claim(RUN.tenant, request))
      if (answer) await this.#writeOwn(actor, archive, answer, texts)
    })
  }

  renew(actor: string, ttl_s: number): void {
    this.#act(actor, async (archive) => void (await archive.renew(RUN, { epoch: this.epoch, ttl_s })))
  }

  /** Deletes the run, makes it again under the same name, and writes in it. */
  startAnew(actor: string, ...texts: readonly string[]): void {
    // The old owner may come when the run is gone, or find it made again; so may an heir, who makes it himself.
    for (const code of ['not_found', 'fenced', 'lease_held', 'gap'] as const) this.expected.add(code)
    this.#act(actor, async (archive) => {
      await again(() => archive.remove(RUN, { force: true }))
      await this.#own(actor, archive, texts)
    })
  }

  /** Merges the extents from the first to the last named by their place. */
  merge(actor: string, first: number, last: number): void {
    this.#act(actor, (_, ports) => this.#merge(ports, first, last))
  }

  sweep(actor: string): void {
    this.#act(actor, async (_, ports) => void (await sweep(ports, this.clock, RUN, this.#grace)))
  }

  /** A merge and a sweep, and once more with what was merged then. */
  mergeAndSweepTwice(actor: string): void {
    this.#act(actor, async (_, ports) => {
      for (let round = 0; round < 2; round++) {
        await this.#merge(ports, 0, 1)
        await sweep(ports, this.clock, RUN, this.#grace)
      }
    })
  }

  maintain(actor: string): void {
    const options = { graceMs: this.#grace, snapshots: this.snapshots }
    this.#act(actor, (_, ports) => createMaintainer(ports, this.clock, options).pass())
  }

  read(actor: string): void {
    this.#act(actor, async (archive, _, begun) => {
      const view = await archive.view(RUN)
      begun.at = this.clock.now()
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

  /** Takes the run and writes in it. */
  async #own(actor: string, archive: Archive, texts: readonly string[], force = false): Promise<void> {
    const { answer } = await again(() => archive.acquire(RUN, { ...owner(actor), force }))
    await this.#writeOwn(actor, archive, answer, texts)
  }

  async #writeOwn(
    actor: string,
    archive: Archive,
    taken: LeaseAnswer,
    texts: readonly string[],
  ): Promise<void> {
    this.told.taken.push(taken)
    const { epoch } = taken
    let { tail: offset } = taken
    for (const text of texts) {
      const frame = said(epoch, text)
      const bytes = offset === 0 ? joined(PREAMBLE, frame) : frame
      offset = await this.#insist(actor, archive, { epoch, offset, bytes })
    }
  }

  /** Unsure of an outcome it sends the same again; where others were quicker it goes behind them. Resolves with the tail. */
  async #insist(actor: string, archive: Archive, { epoch, offset: wanted, bytes }: Batch): Promise<number> {
    for (let offset = wanted; ; ) {
      const request = { epoch, offset, bytes }
      try {
        const answer = await again(async () => {
          const made = await archive.append(RUN, request)
          return this.gate.step(actor, 'hears', ['lost'], async () => made)
        })
        this.#acked(actor, request, answer)
        return answer.tail
      } catch (error) {
        if (!isRunfoldError(error, 'offset_conflict', 'overlap')) throw error
        offset = Number(error.facts.tail)
      }
    }
  }

  #acked(actor: string, { epoch, offset, bytes }: Batch, answer: AppendAnswer): void {
    this.told.acked.push({ actor, epoch, offset, bytes, answer })
  }

  #act(
    actor: string,
    deed: (archive: Archive, ports: StorePorts, begun: { at: number }) => Promise<void>,
  ): void {
    this.gate.enter(actor)
    const gated = this.gate.of(actor)
    const whole = { ...gated, uploads: ownUploads(gated.objects, this.clock, SECRET) }
    const ports = this.#plant.ports?.(whole) ?? whole
    const archive = this.#archiveOn(ports)
    const begun = { at: this.clock.now() }
    const done = deed(this.#plant.archive?.(archive) ?? archive, ports, begun).catch((thrown: unknown) => {
      for (const error of thrown instanceof AggregateError ? thrown.errors : [thrown]) {
        if (!isRunfoldError(error)) throw error
        this.told.refused.push({ actor, error, took: this.clock.now() - begun.at })
      }
    })
    void done.then(() => this.gate.leave(actor))
  }

  #archiveOn(ports: StorePorts): Archive {
    return createArchive(ports, { clock: this.clock, limits: LIMITS })
  }
}

/** Sends the same again for as long as the outcome is not known. */
async function again<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable')) throw error
    }
  }
}

/** A frame that tells which epoch it was written under. */
const said = (epoch: number, text: string) => say(`epoch ${epoch} ${text}`)

function owner(name: string) {
  return { machine_id: `machine-${name}`, world_id: 'world' }
}
