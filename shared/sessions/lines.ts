import { joined } from '../codec/index.ts'

// Lines of a transcript, by bytes (SESSIONS.md 4.0): only LF ends one, wherever the chunks are cut.

/** A longer line is reported, not parsed; so much of a file is held at most. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024

const LF = 0x0a
const CR = 0x0d
const NUL = 0x00
const BOM = [0xef, 0xbb, 0xbf]

/** Where a line stands in its file. */
export interface LinePlace {
  /** From 1. */
  readonly line: number
  readonly offset: number
  /** Without the LF. */
  readonly bytes: number
}

export interface Line extends LinePlace {
  /** Without BOM, CR and NUL padding; undefined when the line is too long to be held. */
  readonly content: Uint8Array | undefined
  readonly padded: boolean
  /** Nothing but spaces and tabs, or nothing at all: no line in the sense of a record. */
  readonly blank: boolean
}

export class LineSplitter {
  #line: number
  #offset: number
  #bytes = 0
  #pieces: Uint8Array[] = []
  #giant: Giant | undefined

  /** `offset` is the start of the line of that number. */
  constructor(offset = 0, line = 1) {
    this.#offset = offset
    this.#line = line
  }

  /** Where the line begins that has not ended yet. */
  get offset(): number {
    return this.#offset
  }

  /** Its number, from 1. */
  get line(): number {
    return this.#line
  }

  /** The lines that end in this chunk, good for as long as it is. What goes on in the next chunk is copied. */
  *push(chunk: Uint8Array): Generator<Line> {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#hold(chunk.subarray(start, end))
      start = end + 1
      const line = this.#take(true)
      this.#offset += this.#bytes + 1
      this.#line++
      this.#bytes = 0
      yield line
    }
    if (start < chunk.length) this.#hold(chunk.slice(start))
  }

  /** What stands behind the last LF; undefined when nothing does. To be asked once, at the end. */
  rest(): Line | undefined {
    return this.#bytes === 0 ? undefined : this.#take(false)
  }

  #hold(piece: Uint8Array): void {
    this.#bytes += piece.length
    if (this.#giant === undefined && this.#bytes > LINE_BYTES_MAX) {
      this.#giant = new Giant()
      const first = this.#withoutBom(joined(this.#pieces))
      this.#pieces = []
      this.#giant.push(first)
    }
    if (this.#giant) this.#giant.push(piece)
    else if (piece.length > 0) this.#pieces.push(piece)
  }

  #take(ended: boolean): Line {
    const place = { line: this.#line, offset: this.#offset, bytes: this.#bytes }
    const giant = this.#giant
    this.#giant = undefined
    if (giant) return { ...place, ...giant.value() }
    let content = this.#withoutBom(joined(this.#pieces))
    this.#pieces = []
    if (ended && content.at(-1) === CR) content = content.subarray(0, -1)
    const stripped = withoutPadding(content)
    const padded = stripped.length !== content.length
    return { ...place, content: stripped, padded, blank: !padded && isBlank(stripped) }
  }

  #withoutBom(content: Uint8Array): Uint8Array {
    const begins = this.#offset === 0 && BOM.every((byte, i) => content[i] === byte)
    return begins ? content.subarray(BOM.length) : content
  }
}

/**
 * A line over the limit. What an interrupted write left may be a long run of NUL bytes around a record of any size: these
 * are counted, not held. A NUL inside is in no JSON.
 */
class Giant {
  #pieces: Uint8Array[] = []
  #held = 0
  #padded = false
  /** Behind the content, in what may be its padding. */
  #ended = false
  #broken = false
  #blank = true

  push(piece: Uint8Array): void {
    let part = piece
    if (this.#held === 0) part = this.#without(part, part.subarray(firstContent(part)))
    if (part.length === 0 || this.#broken) {
      this.#blank &&= isBlank(part)
      return
    }
    const content = part.subarray(0, lastContent(part))
    this.#blank &&= isBlank(part)
    if (content.length > 0 && this.#ended) this.#broken = true
    if (content.length < part.length) {
      this.#padded = true
      this.#ended = true
    }
    this.#held += content.length
    if (this.#held > LINE_BYTES_MAX) this.#broken = true
    if (this.#broken) this.#pieces = []
    else if (content.length > 0) this.#pieces.push(content)
  }

  value(): Pick<Line, 'content' | 'padded' | 'blank'> {
    const blank = this.#blank && !this.#padded
    return { content: this.#broken ? undefined : joined(this.#pieces), padded: this.#padded, blank }
  }

  #without(whole: Uint8Array, part: Uint8Array): Uint8Array {
    if (part.length < whole.length) this.#padded = true
    return part
  }
}

function withoutPadding(content: Uint8Array): Uint8Array {
  if (content.at(0) !== NUL && content.at(-1) !== NUL) return content
  const start = firstContent(content)
  return content.subarray(start, Math.max(start, lastContent(content)))
}

function firstContent(bytes: Uint8Array): number {
  let at = 0
  while (bytes[at] === NUL) at++
  return at
}

function lastContent(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === NUL) end--
  return end
}

function isBlank(content: Uint8Array): boolean {
  let at = 0
  while (content[at] === 0x20 || content[at] === 0x09) at++
  return at === content.length
}
