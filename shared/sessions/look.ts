import type { FileVersion, Input, SessionFiles } from './adapter.ts'
import { parseExact, type ValueMap } from './exact-json.ts'
import { digestOfPaths } from './inputs.ts'

/** A larger one is not read: the small files that describe a session are of a few hundred bytes. */
const DESCRIPTION_BYTES_MAX = 16 * 1024 * 1024

/** The files of a session as a derivation sees them. Whatever it looks at, or for, is an input from then on. */
export class Look {
  readonly #files: SessionFiles
  readonly #byPath: ReadonlyMap<string, FileVersion>
  readonly #inputs = new Map<string, Input>()
  #bytesRead = 0

  /** `known` are the inputs of what is reused. */
  constructor(files: SessionFiles, known: readonly Input[] = []) {
    this.#files = files
    this.#byPath = new Map(files.list.map((file) => [file.path, file]))
    for (const input of known) this.#note(input)
  }

  get inputs(): readonly Input[] {
    return [...this.#inputs.values()]
  }

  get bytesRead(): number {
    return this.#bytesRead
  }

  get paths(): Iterable<string> {
    return this.#byPath.keys()
  }

  /** Looks for a file, to say in a message that it is there, or what it is. */
  find(path: string): FileVersion | undefined {
    return this.#look(path, 'message')
  }

  /** The transcript itself from an offset on. */
  read(file: FileVersion, from: number): AsyncGenerator<Uint8Array> {
    return this.readOf(this.#files, file, from)
  }

  /** A file of another session; it is counted like the own ones. */
  async *readOf(files: SessionFiles, file: FileVersion, from: number): AsyncGenerator<Uint8Array> {
    if (from === file.tail) return
    for await (const chunk of files.read(file, from)) {
      this.#bytesRead += chunk.length
      yield chunk
    }
  }

  /** Reads a small JSON file that only the trailer depends on; undefined when it is absent, null when it is no JSON object. */
  async description(path: string): Promise<ValueMap | null | undefined> {
    const file = this.#look(path, 'trailer')
    if (file === undefined) return undefined
    if (file.tail > DESCRIPTION_BYTES_MAX) return null
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of this.read(file, 0)) text += decoder.decode(chunk, { stream: true })
    const value = parseExact(text + decoder.decode())
    return value instanceof Map ? value : null
  }

  /** Notes that the set of sub-agents was looked at, by the paths of their transcripts. */
  agents(paths: readonly string[]): void {
    this.#note({ use: 'trailer', agents: digestOfPaths(paths) })
  }

  /** Notes a file of another session, or that it is not archived. */
  ancestor(session: string, file: FileVersion | undefined): void {
    this.#note(
      file
        ? { use: 'trailer', session, ...named(file) }
        : { use: 'trailer', session, path: '', absent: true },
    )
  }

  /** Notes the file too, or that there is none. */
  #look(path: string, use: 'message' | 'trailer'): FileVersion | undefined {
    const file = this.#byPath.get(path)
    this.#note(file ? { use, ...named(file) } : { use, path, absent: true })
    return file
  }

  #note(input: Input): void {
    this.#inputs.set('agents' in input ? '' : `${input.session ?? ''}\n${input.path}`, input)
  }
}

/** These four, whatever else the lister of the files keeps of them. */
function named({ path, generation, tail, digest }: FileVersion): FileVersion {
  return { path, generation, tail, digest }
}
