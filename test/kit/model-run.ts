import { loadDigest, PREAMBLE } from '#codec'
import { isRunfoldError, type RunKey } from '#schema'
import { type Archive, createArchive, createMaintainer, type Head, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { merge } from '../../shared/store/merge.ts'
import { piecesOf } from '../../shared/store/merge-policy.ts'
import { sweep } from '../../shared/store/sweep.ts'
import { Gate } from './faulty-ports.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { collected, joined, LIMITS, say, sha256 } from './stored-run.ts'

// A run with a few batches in it, actors that do things to it through a gate, and the promises that must hold of it after
// whatever happened.

export const RUN: RunKey = { tenant: 'default', run_id: 'model' }

export interface Batch {
  readonly epoch: number
  readonly offset: number
  readonly bytes: Uint8Array
}

/** What the actors were told. */
interface Told {
  readonly acked: Batch[]
  readonly taken: { readonly epoch: number; readonly tail: number }[]
  readonly read: Uint8Array[]
  readonly refused: { readonly actor: string; readonly code: string }[]
}

/** Changes what reaches the storage, to see that a check notices. */
export type Sabotage = (ports: StorePorts) => StorePorts

export class ModelRun {
  readonly clock: ManualClock = manualClock()
  readonly ports: StorePorts
  readonly gate: Gate
  readonly archive: Archive
  readonly told: Told = { acked: [], taken: [], read: [], refused: [] }
  /** Epoch of the first owner. */
  epoch = 0
  tail = 0

  constructor(sabotage: Sabotage = (ports) => ports) {
    this.ports = memoryPorts(this.clock)
    this.gate = new Gate(sabotage(this.ports))
    this.archive = this.#archiveOn(this.ports)
  }

  /** A run of `owner` with so many stored batches. */
  static async begin(batches: number, sabotage?: Sabotage): Promise<ModelRun> {
    await loadDigest()
    const model = new ModelRun(sabotage)
    const { answer } = await model.archive.acquire(RUN, owner('first'))
    model.epoch = answer.epoch
    for (let i = 0; i < batches; i++) {
      const bytes = i === 0 ? joined(PREAMBLE, say('batch 0')) : say(`batch ${i}`)
      const { tail } = await model.archive.append(RUN, { offset: model.tail, epoch: model.epoch, bytes })
      model.tail = tail
    }
    return model
  }

  append(actor: string, batch: Batch): void {
    this.#act(actor, async (archive) => {
      await archive.append(RUN, batch)
      this.told.acked.push(batch)
    })
  }

  takeOver(actor: string): void {
    this.#act(actor, async (archive) => {
      const { answer } = await archive.acquire(RUN, { ...owner(actor), force: true })
      const { epoch, tail: offset } = answer
      this.told.taken.push({ epoch, tail: offset })
      const batch = { epoch, offset, bytes: say(`epoch ${epoch} heir`) }
      await archive.append(RUN, batch)
      this.told.acked.push(batch)
    })
  }

  /** The first owner gives the run back and another takes it. */
  handOver(actor: string): void {
    this.#act(actor, async (archive) => {
      await archive.release(RUN, this.epoch)
      const { answer } = await archive.acquire(RUN, owner(actor))
      this.told.taken.push({ epoch: answer.epoch, tail: answer.tail })
    })
  }

  renew(actor: string, ttl_s: number): void {
    this.#act(actor, async (archive) => void (await archive.renew(RUN, { epoch: this.epoch, ttl_s })))
  }

  /** Deletes the run, makes it again under the same name, and writes its first batch. */
  startAnew(actor: string): void {
    this.#act(actor, async (archive) => {
      await archive.remove(RUN, { force: true })
      const { answer } = await archive.acquire(RUN, owner(actor))
      const { epoch, tail: offset } = answer
      this.told.taken.push({ epoch, tail: offset })
      const batch = { epoch, offset, bytes: joined(PREAMBLE, say(`epoch ${epoch} anew`)) }
      await archive.append(RUN, batch)
      this.told.acked.push(batch)
    })
  }

  /** Merges the extents from the first to the last named by their place. */
  merge(actor: string, first: number, last: number): void {
    this.#act(actor, async (_, ports) => {
      const head = (await ports.index.head(RUN)) as Head
      const pieces = piecesOf(head.extents).slice(first, last + 1)
      if (head.alive) await merge(ports, this.clock, RUN, head, pieces, 0)
    })
  }

  /** Without any grace, the hardest case. */
  sweep(actor: string): void {
    this.#act(actor, async (_, ports) => void (await sweep(ports, this.clock, RUN, 0)))
  }

  maintain(actor: string): void {
    this.#act(actor, (_, ports) => createMaintainer(ports, this.clock, { graceMs: 0 }).pass())
  }

  read(actor: string): void {
    this.#act(actor, async (archive) => {
      const view = await archive.view(RUN)
      this.told.read.push(await collected(view.bytes(0, view.head.tail)))
    })
  }

  /** The promises that hold of any run at any time. Resolves with the bytes stored; undefined when the run is gone. */
  async check(): Promise<Uint8Array | undefined> {
    const head = await this.ports.index.head(RUN)
    if (!head?.alive) return undefined
    const bytes = await this.#stored(head)
    const digest = sha256(bytes)
    if (digest !== head.digest) throw new Error(`the digest is ${head.digest}, of the bytes ${digest}`)
    const isThisLife = ({ epoch }: { epoch: number }) => epoch >= head.life
    for (const { epoch, offset, bytes: batch } of this.told.acked.filter(isThisLife)) {
      const stored = bytes.subarray(offset, offset + batch.length)
      if (Buffer.compare(stored, batch) !== 0)
        throw new Error(`the batch acked at ${offset} of epoch ${epoch} is lost`)
    }
    const texts = textsOf(bytes)
    if (new Set(texts).size !== texts.length) throw new Error(`a batch is stored twice: ${texts.join(', ')}`)
    if (texts.length !== head.frames) throw new Error(`${texts.length} frames, the head says ${head.frames}`)
    for (const read of this.told.read) {
      const [short, long] = read.length < bytes.length ? [read, bytes] : [bytes, read]
      const isPrefix = Buffer.compare(long.subarray(0, short.length), short) === 0
      if (head.life === 1 && !isPrefix) throw new Error('a read was no prefix of the archive')
    }
    for (const { epoch, tail } of this.told.taken.filter(isThisLife)) {
      const late = textsOf(bytes, tail).filter(
        (text) => text.startsWith('epoch ') && Number(text.split(' ')[1]) < epoch,
      )
      if (late.length > 0)
        throw new Error(`epoch ${epoch} began at ${tail}, behind it stands ${late.join(', ')}`)
    }
    for (const { actor, code } of this.told.refused) {
      if (code === 'internal') throw new Error(`${actor} met an internal error`)
    }
    // An owner whose ack was lost sends again, and is answered the same.
    for (const batch of this.told.acked.filter(({ epoch }) => head.lease && epoch === head.epoch)) {
      const { replayed } = await this.archive.append(RUN, batch)
      if (!replayed) throw new Error(`the batch at ${batch.offset} was stored a second time`)
    }
    return bytes
  }

  /** Everything that is not named goes when maintenance has had its time. */
  async checkGarbage(): Promise<void> {
    const maintainer = createMaintainer(this.ports, this.clock, { graceMs: 0 })
    for (let round = 0; round < 5; round++) {
      await maintainer.pass()
      this.clock.advance(60_000)
    }
    const named = Object.keys((await this.ports.index.head(RUN))?.extents ?? {}).length
    let stored = 0
    for await (const _ of this.ports.objects.list('runs/')) stored++
    if (stored !== named) throw new Error(`${stored} objects are stored, ${named} are named`)
  }

  async #stored(head: Head): Promise<Uint8Array> {
    let end = 0
    for (const [name, { length }] of Object.entries(head.extents)) {
      if (Number(name) !== end)
        throw new Error(`an extent begins at ${Number(name)}, the one before ends at ${end}`)
      end += length
    }
    if (end !== head.tail) throw new Error(`the extents end at ${end}, the archive at ${head.tail}`)
    const view = await this.archive.view(RUN)
    return await collected(view.bytes(0, head.tail))
  }

  #act(actor: string, deed: (archive: Archive, ports: StorePorts) => Promise<void>): void {
    const ports = this.gate.of(actor)
    deed(this.#archiveOn(ports), ports).catch((thrown: unknown) => {
      for (const error of thrown instanceof AggregateError ? thrown.errors : [thrown]) {
        if (!isRunfoldError(error)) throw error
        this.told.refused.push({ actor, code: error.code })
      }
    })
  }

  #archiveOn(ports: StorePorts): Archive {
    return createArchive(ports, { clock: this.clock, limits: LIMITS })
  }
}

function owner(name: string) {
  return { machine_id: `machine-${name}`, world_id: 'world' }
}

/** The texts of all messages from an offset on. */
function textsOf(bytes: Uint8Array, from = PREAMBLE.length): string[] {
  const texts: string[] = []
  for (let at = Math.max(from, PREAMBLE.length); at < bytes.length; ) {
    const end = at + 8 + Buffer.from(bytes).readUInt32BE(at + 4)
    texts.push(JSON.parse(Buffer.from(bytes.subarray(at + 8, end)).toString()).Message.message.content)
    at = end
  }
  return texts
}
