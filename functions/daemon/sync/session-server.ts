import type { Client } from '#client'
import { type FileAppendAnswer, isRunfoldError } from '#schema'
import type { Counters } from './counters.ts'
import { type DocumentProblem, problemsIn } from './document-problems.ts'
import type { Outage } from './outage.ts'
import type { SessionName } from './states.ts'

/** Where a file stands at the server. */
export interface FileAtServer {
  readonly generation: number
  readonly tail: number
  readonly digest: string
}

export interface FilePiece {
  readonly path: string
  readonly generation: number
  readonly offset: number
  readonly bytes: Uint8Array
}

interface AskingServer {
  readonly client: Client
  readonly machine: string
  readonly counters: Counters
  readonly outage: Outage
}

/** One session of this machine at the server, for one pass. Requests are counted; the client repeats them by itself. */
export class SessionServer {
  readonly #client: Client
  readonly #name: SessionName & { readonly machine: string }
  readonly #counters: Counters
  readonly #outage: Outage
  #files: Promise<ReadonlyMap<string, FileAtServer>> | undefined

  constructor({ client, machine, counters, outage }: AskingServer, { harness, id }: SessionName) {
    this.#client = client
    this.#name = { harness, id, machine }
    this.#counters = counters
    this.#outage = outage
  }

  async append(piece: FilePiece): Promise<FileAppendAnswer> {
    this.#outage.check()
    this.#counters.requests++
    return this.#client.appendFile(this.#name, piece)
  }

  /** One question answers for all files of the session. Undefined where the server has never heard of this one. */
  async file(path: string): Promise<FileAtServer | undefined> {
    this.#files ??= this.#ask()
    return (await this.#files).get(path)
  }

  async problems(): Promise<readonly DocumentProblem[]> {
    this.#counters.requests++
    const { chunks } = await this.#client.sessionDocument(this.#name)
    return problemsIn(chunks)
  }

  /** Reads the document to its end: one that is not what was derived is noticed there, and made again. */
  async checkDocument(): Promise<void> {
    this.#counters.requests++
    const { chunks } = await this.#client.sessionDocument(this.#name)
    for await (const _ of chunks);
  }

  async #ask(): Promise<ReadonlyMap<string, FileAtServer>> {
    this.#outage.check()
    this.#counters.requests++
    try {
      const { items } = await this.#client.sessionFiles(this.#name)
      return new Map(items.filter(({ current }) => current).map((item) => [item.path, item]))
    } catch (error) {
      if (isRunfoldError(error, 'not_found')) return new Map()
      throw error
    }
  }
}
