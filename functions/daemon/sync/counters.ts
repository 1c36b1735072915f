/** The work of a sync, counted where it is done (SESSIONS.md 6). */
export interface Counters {
  /** Bytes read of source files. */
  bytes_read: number
  /** Bytes that the server was given, before compression. */
  bytes_sent: number
  requests: number
}

export const newCounters = (): Counters => ({ bytes_read: 0, bytes_sent: 0, requests: 0 })
