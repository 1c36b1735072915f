import { PREAMBLE } from '#codec'
import { type AppendAnswer, isRunfoldError, type LeaseAnswer, type RunKey } from '#schema'
import type { Archive } from '#store'
import type { Gate } from './faulty-ports.ts'
import type { Told } from './model-told.ts'
import { joined, say } from './stored-run.ts'

export const RUN: RunKey = { tenant: 'default', run_id: 'model' }

export interface Batch {
  readonly epoch: number
  readonly offset: number
  readonly bytes: Uint8Array
}

/** How an actor of the model speaks to its archive; what it is told is written down. */
export class ModelClient {
  readonly #actor: string
  readonly #archive: Archive
  readonly #gate: Gate
  readonly #told: Told

  constructor(actor: string, archive: Archive, gate: Gate, told: Told) {
    this.#actor = actor
    this.#archive = archive
    this.#gate = gate
    this.#told = told
  }

  acked({ epoch, offset, bytes }: Batch, answer: AppendAnswer): void {
    this.#told.acked.push({ actor: this.#actor, epoch, offset, bytes, answer })
  }

  /** Unsure of an outcome it sends the same again; where others were quicker it goes behind them. Resolves with the tail. */
  async insist({ epoch, offset: wanted, bytes }: Batch): Promise<number> {
    for (let offset = wanted; ; ) {
      const request = { epoch, offset, bytes }
      try {
        const answer = await again(async () => {
          const made = await this.#archive.append(RUN, request)
          return this.#gate.step(this.#actor, 'hears', ['lost'], async () => made)
        })
        this.acked(request, answer)
        return answer.tail
      } catch (error) {
        if (!isRunfoldError(error, 'offset_conflict', 'overlap')) throw error
        offset = Number(error.facts.tail)
      }
    }
  }

  /** Takes the run and writes in it. */
  async own(texts: readonly string[], force = false): Promise<void> {
    const { answer } = await again(() => this.#archive.acquire(RUN, { ...workerOf(this.#actor), force }))
    await this.writeOwn(answer, texts)
  }

  /** Writes in the run under the lease that was taken. */
  async writeOwn(taken: LeaseAnswer, texts: readonly string[]): Promise<void> {
    this.#told.taken.push(taken)
    const { epoch } = taken
    let { tail: offset } = taken
    for (const text of texts) offset = await this.insist(batchAt(offset, epoch, text))
  }
}

/** A frame that tells which epoch it was written under, behind a preamble where the archive begins. */
export function batchAt(offset: number, epoch: number, text: string): Batch {
  const frame = say(`epoch ${epoch} ${text}`)
  return { epoch, offset, bytes: offset === 0 ? joined(PREAMBLE, frame) : frame }
}

/** Sends the same again for as long as the outcome is not known. */
export async function again<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable')) throw error
    }
  }
}

export const workerOf = (actor: string) => ({ machine_id: `machine-${actor}`, world_id: 'world' })
