import type { Client } from '#client'
import type { FoldPart } from '#schema'
import type { Moment, PointsWanted, Reading, RecordsWanted } from './reading.ts'

/** Reads a run through the server. */
export class ServerReading implements Reading {
  readonly #client: Client
  readonly #run: string

  constructor(client: Client, run: string) {
    this.#client = client
    this.#run = run
  }

  records({ from, to, kinds }: RecordsWanted): AsyncIterable<unknown> {
    return this.#client.recordLines(this.#run, { from, to, kind: kinds })
  }

  points({ shape, from, step }: PointsWanted): AsyncIterable<unknown> {
    return this.#client.pointLines(this.#run, { shape, from, step })
  }

  point(number: number): Promise<unknown> {
    return this.#client.point(this.#run, number)
  }

  fold(moment: Moment, parts?: readonly FoldPart[]): Promise<unknown> {
    return this.#client.fold(this.#run, { ...moment, parts })
  }

  diff(from: number, to: number): Promise<unknown> {
    return this.#client.diff(this.#run, from, to)
  }

  usage(): Promise<unknown> {
    return this.#client.usage(this.#run)
  }

  verify(from?: number, to?: number): Promise<unknown> {
    return this.#client.verify(this.#run, { from, to })
  }

  async *bytes(): AsyncIterable<Uint8Array> {
    yield* (await this.#client.archive(this.#run)).chunks
  }
}
