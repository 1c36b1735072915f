/** Of Node's response, what tells how far it has come. */
export interface Outgoing {
  readonly socket: { readonly bytesWritten: number } | null
  /** Bytes of it that the system has not taken yet. */
  readonly writableLength: number
}

/**
 * Counts, from now on, the bytes of an answer that have left this process, its head included. 0 while some of them are still
 * held, and for an answer that waits for the one before it on its connection.
 */
export function countSent(outgoing: Outgoing): () => number {
  const { socket } = outgoing
  const before = socket?.bytesWritten ?? 0
  return () =>
    socket !== null && outgoing.socket === socket && outgoing.writableLength === 0
      ? socket.bytesWritten - before
      : 0
}
