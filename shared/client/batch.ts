const PREFIX_BYTES = 8

/** Where a piece of an archive may be cut. */
export interface BatchCut {
  /** Bytes of whole frames (and of the preamble, where there is one) at the beginning of the piece. */
  readonly whole: number
  /** Length of the frame that did not fit, prefix included; undefined when the piece ends before or within its prefix. */
  readonly next: number | undefined
}

/**
 * Walks the length prefixes of a piece that starts at a frame boundary, `skip` bytes in. Payloads are not looked at: what
 * is whole is for the sender's reader to judge, and once more for the server.
 */
export const cutBatch = (piece: Uint8Array, skip: number): BatchCut => {
  const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength)
  let whole = skip
  while (whole + PREFIX_BYTES <= piece.length) {
    // Exact up to 2^53; a longer frame is over every limit whatever its last digits are.
    const length = PREFIX_BYTES + view.getUint32(whole) * 2 ** 32 + view.getUint32(whole + 4)
    if (whole + length > piece.length) return { whole, next: length }
    whole += length
  }
  return { whole: Math.min(whole, piece.length), next: undefined }
}
