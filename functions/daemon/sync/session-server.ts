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
  readonly batchBytes: number
}

/** One session of this machine at the server, for one pass. Requests are counted; the client repeats them by itself. */
export class SessionServer {
  readonly #client: Client
  readonly #name: SessionName & { readonly machine: string }
  readonly #counters: Counters
  readonly #outage: Outage
  /** Bytes of one request, at most. */
  batchBytes: number
  #files: Promise<ReadonlyMap<string, FileAtServer>> | undefined
  #listed: number | null = null

  constructor({ client, machine, counters, outage, batchBytes }: AskingServer, { harness, id }: SessionName) {
    this.#client = client
    this.#name = { harness, id, machine }
    this.#counters = counters
    this.#outage = outage
    this.batchBytes = batchBytes
  }

  async append(piece: FilePiece): Promise<FileAppendAnswer> {
    this.#outage.check()
    this.#counters.requests++
    const answer = await this.#client.appendFile(this.#name, piece)
    this.#outage.isOver()
    return answer
  }

  /** One question answers for all files of the session. Undefined where the server has never heard of this one. */
  async file(path: string): Promise<FileAtServer | undefined> {
    this.#files ??= this.#ask()
    return (await this.#files).get(path)
  }

  /** How many problems the document had when the files were asked for; null where they were not, or it is not known. */
  get listedProblems(): number | null {
    return this.#listed
  }

  async problems(): Promise<readonly DocumentProblem[]> {
    this.#counters.requests++
    const { chunks } = await this.#client.sessionDocument(this.#name)
    return problemsIn(chunks)
  }

  /**
   * Has the server read all it has of the session, and make documents anew that are not what they should be. Says what is
   * damaged for good.
   */
  async verify(): Promise<readonly string[]> {
    this.#outage.check()
    this.#counters.requests++
    try {
      const { problems } = await this.#client.verifySession(this.#name)
      return problems.map(
        ({ path, generation, offset, length, code, detail }) =>
          `${path}, generation ${generation}, ${length} bytes at ${offset}: ${code}: ${detail}`,
      )
    } catch (error) {
      if (isRunfoldError(error, 'not_found')) return [] // nothing of it was ever sent
      throw error
    }
  }

  async #ask(): Promise<ReadonlyMap<string, FileAtServer>> {
    this.#outage.check()
    this.#counters.requests++
    try {
      const { items, problems = null } = await this.#client.sessionFiles(this.#name)
      this.#listed = problems
      return new Map(items.filter(({ current }) => current).map((item) => [item.path, item]))
    } catch (error) {
      if (isRunfoldError(error, 'not_found')) return new Map()
      throw error
    }
  }
}
