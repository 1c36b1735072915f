interface Piece {
  readonly start: number
  readonly bytes: Uint8Array
}

/** Archive bytes that wait to be acknowledged, in the pieces they came in. */
export class Backlog {
  readonly #pieces: Piece[] = []
  #start: number
  #end: number

  constructor(start: number) {
    this.#start = start
    this.#end = start
  }

  /** Archive position of the first byte that is held. */
  get start(): number {
    return this.#start
  }

  get end(): number {
    return this.#end
  }

  get bytes(): number {
    return this.#end - this.#start
  }

  get pieces(): number {
    return this.#pieces.length
  }

  add(bytes: Uint8Array): void {
    this.#pieces.push({ start: this.#end, bytes })
    this.#end += bytes.length
  }

  /** Forgets what stands before `tail`, all at once: one by one, hundreds of thousands of pieces would take minutes. */
  dropTo(tail: number): void {
    const left = this.#pieces.findIndex(({ start, bytes }) => start + bytes.length > tail)
    this.#pieces.splice(0, left < 0 ? this.#pieces.length : left)
    const [first] = this.#pieces
    if (first && first.start < tail)
      this.#pieces[0] = { start: tail, bytes: first.bytes.subarray(tail - first.start) }
    this.#start = this.#pieces[0]?.start ?? this.#end
  }

  /** Bytes start..end, all of which are held. */
  slice(start: number, end: number): Uint8Array {
    const whole = new Uint8Array(end - start)
    for (const piece of this.#pieces) {
      const from = Math.max(start, piece.start)
      const to = Math.min(end, piece.start + piece.bytes.length)
      if (from < to) whole.set(piece.bytes.subarray(from - piece.start, to - piece.start), from - start)
    }
    return whole
  }
}
