import { type HeldRecord, readLater, readRecord, Unreadable } from '../../codec/index.ts'
import type { Keep } from '../../fold/index.ts'
import type { ArchiveView } from './view.ts'

/**
 * Reads the record of a stored frame; undefined when it is unreadable, which is kept and counted but never refused. Where
 * no frame of the archive was found unreadable as it was appended, none is checked again, and what it holds is read when
 * somebody asks for it.
 */
export function recordReader(
  { head }: ArchiveView,
  keep?: Keep,
): (payload: Uint8Array) => HeldRecord | undefined {
  const entries = keep?.entries === false ? 'counted' : 'later'
  const read = head.unreadable === 0 ? (payload: Uint8Array) => readLater(payload, entries) : readRecord
  return (payload) => {
    try {
      return read(payload)
    } catch (error) {
      if (error instanceof Unreadable) return undefined
      throw error
    }
  }
}
