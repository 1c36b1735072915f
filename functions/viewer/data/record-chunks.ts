import type { RecordItem } from '#schema'

/** Successive records that are asked for together. */
const CHUNK = 200
/** Chunks held at once. */
const MAX_CHUNKS = 24

type AskRecords = (from: number, to: number, signal: AbortSignal) => Promise<readonly RecordItem[]>

/** Records of one run by aligned chunks: written ones never change, so of a run that grows only the last chunk is asked for again. */
export class RecordChunks {
  readonly #ask: AskRecords
  readonly #whole = new Map<number, readonly RecordItem[]>()

  constructor(ask: AskRecords) {
    this.#ask = ask
  }

  /** Of the records from..to (exclusive) of a run that has so many frames now. */
  async read(from: number, to: number, frames: number, signal: AbortSignal): Promise<RecordItem[]> {
    const starts: number[] = []
    for (let start = from - (from % CHUNK); start < Math.min(to, frames); start += CHUNK) starts.push(start)
    const chunks = await Promise.all(starts.map((start) => this.#chunk(start, frames, signal)))
    return chunks.flat().filter(({ seq }) => from <= seq && seq < to)
  }

  async #chunk(start: number, frames: number, signal: AbortSignal): Promise<readonly RecordItem[]> {
    const known = this.#whole.get(start)
    if (known) return known
    const items = await this.#ask(start, start + CHUNK, signal)
    if (start + CHUNK <= frames) {
      for (const oldest of this.#whole.keys()) {
        if (this.#whole.size < MAX_CHUNKS) break
        this.#whole.delete(oldest)
      }
      this.#whole.set(start, items)
    }
    return items
  }
}
