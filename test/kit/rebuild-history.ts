import * as fc from 'fast-check'
import { jsonText, PREAMBLE, walkFrames } from '#codec'
import { isRunfoldError, RunfoldError, type RunKey } from '#schema'
import {
  type Archive,
  createArchive,
  createMaintainer,
  foldAnswer,
  type Head,
  pointsStream,
  type RunIndex,
  recordsStream,
  type StorePorts,
} from '#store'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import type { ManualClock } from './manual-clock.ts'
import { collected, joined, LIMITS, StoredRun, sha256 } from './stored-run.ts'
import { uploadParts } from './upload-batch.ts'

// Runs with a past, for rebuilds: what may happen to a few of them, and everything that can be read of them.

const HOUR = 3_600_000
const FRAMES = framesOf(joined(...demoArchive({ seed: 7, records: 400, entryBytes: 400 })))

export type Deed =
  | { readonly do: 'append' | 'upload' | 'refused'; readonly run: number; readonly frames: number }
  | { readonly do: 'takeOver' | 'release' | 'delete' | 'renew'; readonly run: number }
  | { readonly do: 'maintain'; readonly hours: number }

const run = fc.nat(2)
const frames = fc.integer({ min: 1, max: 6 })
const hours = fc.constantFrom(0, 0.01, 1, 2, 25)

export const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: fc.record({ do: fc.constant('append' as const), run, frames }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('upload' as const), run, frames }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('refused' as const), run, frames }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('takeOver', 'release', 'renew'), run }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), run }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('maintain' as const), hours }) },
  ),
  { minLength: 10, maxLength: 80 },
)

/** Does the deeds, and then appends to each run twice: the first of two objects is proven by the second. */
export class History {
  readonly ports: StorePorts
  readonly clock: ManualClock
  readonly archive: Archive
  /** Epochs under which something was appended, by run. */
  readonly #wrote = new Map<StoredRun, Set<number>>()
  readonly #runs: (StoredRun | undefined)[] = [undefined, undefined, undefined]
  #owners = 0
  #written = 0

  constructor(ports: StorePorts, clock: ManualClock) {
    this.ports = ports
    this.clock = clock
    this.archive = createArchive(ports, { clock, limits: LIMITS })
  }

  get runs(): readonly StoredRun[] {
    return this.#runs.flatMap((one) => one ?? [])
  }

  /** Epochs of a run that its objects tell of: of its beginning, and of everyone who wrote. */
  told(one: StoredRun): ReadonlySet<number> {
    return this.#wrote.get(one) ?? new Set()
  }

  async play(past: readonly Deed[]): Promise<void> {
    for (const deed of past) {
      this.clock.advance(100)
      await this.#make(deed)
    }
    for (const one of this.runs) {
      await this.#owned(one)
      await one.append(this.#frame())
      await one.append(this.#frame())
    }
  }

  async #make(deed: Deed): Promise<void> {
    if (deed.do === 'maintain') {
      this.clock.advance(deed.hours * HOUR)
      return createMaintainer(this.ports, this.clock).pass()
    }
    const one = await this.#run(deed.run)
    const { key } = one
    switch (deed.do) {
      case 'append':
        await this.#owned(one)
        await one.append(...this.#frames(one, deed.frames))
        return
      case 'upload': {
        await this.#owned(one)
        const bytes = batchOf(one, this.#frames(one, deed.frames))
        await (await uploadParts(one, bytes)).complete()
        one.bytes = joined(one.bytes, bytes)
        return
      }
      case 'refused': {
        await this.#owned(one)
        // Of another writer with the same epoch: other bytes, stored and never committed.
        const bytes = batchOf(
          one,
          Array.from({ length: deed.frames }, () => this.#frame()),
        )
        await this.#unlucky.append(key, { epoch: one.epoch, offset: one.tail, bytes }).catch(unknownOutcome)
        return
      }
      case 'takeOver': {
        const owner = { machine_id: `machine-${++this.#owners}`, world_id: 'world' }
        one.epoch = (await this.archive.acquire(key, { ...owner, force: true })).answer.epoch
        return
      }
      case 'renew':
        await this.#held(one)
        await this.archive.renew(key, { epoch: one.epoch })
        return
      case 'release':
        await this.archive.release(key, one.epoch)
        return
      case 'delete':
        await this.archive.remove(key, { force: true })
        this.#runs[deed.run] = undefined
    }
  }

  async #run(n: number): Promise<StoredRun> {
    const known = this.#runs[n]
    if (known) return known
    const begun = await StoredRun.begin(this.archive, `run-${n}`)
    this.#runs[n] = begun
    return begun
  }

  async #held(one: StoredRun): Promise<void> {
    const { lease } = (await this.ports.index.head(one.key)) as Head
    if (!lease) one.epoch = (await this.archive.acquire(one.key, one.owner)).answer.epoch
  }

  /** By someone who is about to write. */
  async #owned(one: StoredRun): Promise<void> {
    await this.#held(one)
    const wrote = this.#wrote.get(one) ?? new Set()
    this.#wrote.set(one, wrote.add(one.epoch))
  }

  /** An archive whose commits have no outcome. */
  get #unlucky(): Archive {
    const commit = async () => {
      throw new RunfoldError('unavailable', 'the outcome is not known')
    }
    const { index: real } = this.ports
    const index: RunIndex = new Proxy(real, {
      get: (_, name: keyof RunIndex) => (name === 'commit' ? commit : real[name].bind(real)),
    })
    const ports = { ...this.ports, index }
    return createArchive(ports, { clock: this.clock, limits: LIMITS })
  }

  #frames(one: StoredRun, count: number): Uint8Array[] {
    const from = one.tail === 0 ? 0 : 1 + (this.#written++ % 300)
    return FRAMES.slice(from, from + count)
  }

  /** One of a kind. */
  #frame(): Uint8Array {
    return frame(`{"Message":{"message":{"role":"user","content":"${this.#written++}"},"at":1790000001}}`)
  }
}

function batchOf(one: StoredRun, batch: readonly Uint8Array[]): Uint8Array {
  return joined(...(one.tail === 0 ? [PREAMBLE] : []), ...batch)
}

function frame(text: string): Uint8Array {
  const bytes = new Uint8Array(8 + text.length)
  new DataView(bytes.buffer).setUint32(4, text.length)
  bytes.set(new TextEncoder().encode(text), 8)
  return bytes
}

function framesOf(archive: Uint8Array): Uint8Array[] {
  const frames = archive.subarray(PREAMBLE.length)
  return [...walkFrames(frames)].map(({ offset, length }) => frames.slice(offset, offset + length))
}

function unknownOutcome(error: unknown): void {
  if (!isRunfoldError(error, 'unavailable')) throw error
}

/** Everything that a rebuild has to give back, as text. Of the holders those of some epochs: nobody knows who never wrote. */
export async function answersOf(
  archive: Archive,
  key: RunKey,
  epochs: ReadonlySet<number>,
): Promise<Readonly<Record<string, string>>> {
  const view = await archive.view(key)
  const { tail, frames, points, digest, unreadable, ended, headed, life, requires, created_at } = view.head
  const { answer } = await archive.run(key)
  const {
    epoch: _epoch,
    lease: _lease,
    stored: _stored,
    snapshot: _snapshot,
    changed_at: _at,
    ...shown
  } = answer
  const isHeaded = headed === true
  const lines = async (items: AsyncIterable<unknown>) => {
    const all: string[] = []
    for await (const item of items) all.push(jsonText(item))
    return all.join('\n')
  }
  return {
    bytes: sha256(await collected(view.bytes(0, tail))),
    head: jsonText({ tail, frames, points, digest, unreadable, ended, headed, life, requires, created_at }),
    run: jsonText(shown),
    fold: isHeaded ? jsonText(await foldAnswer(view, {})) : '',
    points: isHeaded
      ? await lines(pointsStream(view, { from: undefined, shape: 'summary', order: 'asc' }))
      : '',
    records: await lines(recordsStream(view, {})),
    holders: jsonText((await archive.leaseState(key)).history.filter(({ epoch }) => epochs.has(epoch))),
  }
}
