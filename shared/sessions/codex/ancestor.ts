import type { FileVersion, SessionFiles } from '../adapter.ts'
import { parseExact, type ValueMap } from '../exact-json.ts'
import { LineSplitter } from '../lines.ts'
import type { Transcript } from '../parser.ts'
import type { SavedMap } from '../state.ts'
import { rolloutAmong } from './files.ts'

/** The records of an ancestor's rollout, one after the other, for as long as a fork repeats them. */
export class AncestorRecords {
  readonly #transcript: Transcript
  readonly #id: string
  /** Where the next line begins. */
  #offset: number
  /** Whether the file ended while it was compared. */
  #ended: boolean
  #open: AsyncGenerator<AncestorRecord> | undefined

  constructor(transcript: Transcript, id: string, saved?: SavedMap) {
    this.#transcript = transcript
    this.#id = id
    this.#offset = saved?.int('offset') ?? 0
    this.#ended = saved?.int('ended') === 1
  }

  /** Looks for the ancestor, which is an input from then on; says whether it is archived. */
  async isArchived(): Promise<boolean> {
    const { file } = await this.#find()
    this.#transcript.look.ancestor(this.#id, file)
    return file !== undefined
  }

  /** The next record, without the session_meta it begins with; undefined at the end of the last whole line. */
  async next(): Promise<ValueMap | undefined> {
    this.#open ??= this.#records()
    const { done, value } = await this.#open.next()
    this.#ended = done === true
    if (done) return undefined
    this.#offset = value.end
    return value.record
  }

  save(): unknown {
    return { offset: this.#offset, ended: Number(this.#ended) }
  }

  async close(): Promise<void> {
    await this.#open?.return(undefined)
  }

  async *#records(): AsyncGenerator<AncestorRecord> {
    const { files, file } = await this.#find()
    if (files && file) yield* recordsIn(this.#transcript.look.readOf(files, file, this.#offset), this.#offset)
  }

  async #find(): Promise<{ files?: SessionFiles | undefined; file?: FileVersion | undefined }> {
    const files = await this.#transcript.ancestor(this.#id)
    const path = files && rolloutAmong(files.list.map((listed) => listed.path))
    return { files, file: files?.list.find((listed) => listed.path === path) }
  }
}

interface AncestorRecord {
  readonly record: ValueMap
  /** Where the line behind it begins. */
  readonly end: number
}

/** The record that a grown ancestor has where a fork once met the end of its file. */
export async function recordAt(
  files: SessionFiles,
  file: FileVersion,
  offset: number,
): Promise<ValueMap | undefined> {
  for await (const { record } of recordsIn(files.read(file, offset), offset)) return record
  return undefined
}

async function* recordsIn(bytes: AsyncIterable<Uint8Array>, offset: number): AsyncGenerator<AncestorRecord> {
  const lines = new LineSplitter(offset)
  for await (const chunk of bytes) {
    for (const line of lines.push(chunk)) {
      const record = line.content && parseExact(decoder.decode(line.content))
      const isOwnMeta = line.offset === 0 && record instanceof Map && record.get('type') === 'session_meta'
      if (record instanceof Map && !isOwnMeta) yield { record, end: line.offset + line.bytes + 1 }
    }
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
