import { createHash, type Hash } from 'node:crypto'
import type { AppendSource } from '#client'
import { fileBytes, fileSlice } from '../reading/file-bytes.ts'

/** An archive file as something to send; the digest of a growing prefix is continued, not computed anew. */
export class FileSource implements AppendSource {
  readonly #path: string
  readonly end: number
  #hash: Hash = createHash('sha256')
  #hashed = 0

  constructor(path: string, end: number) {
    this.#path = path
    this.end = end
  }

  read(start: number, end: number): Promise<Uint8Array> {
    return fileSlice(this.#path, start, end)
  }

  async digest(end: number): Promise<string> {
    if (end < this.#hashed) {
      this.#hash = createHash('sha256')
      this.#hashed = 0
    }
    for await (const chunk of fileBytes(this.#path, this.#hashed, end)) this.#hash.update(chunk)
    this.#hashed = end
    return this.#hash.copy().digest('hex')
  }

  /** The same file, to be sent up to another end; what is hashed stays so. */
  upTo(end: number): FileSource {
    const source = new FileSource(this.#path, end)
    source.#hash = this.#hash.copy()
    source.#hashed = this.#hashed
    return source
  }
}
