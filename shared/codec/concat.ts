/** A piece of memory of its own that holds all the pieces, one behind the other. */
export function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** The same for who only reads: a single piece is given as it is, not copied. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [only] = pieces
  return pieces.length === 1 && only ? (only as Uint8Array<ArrayBuffer>) : concat(pieces)
}
