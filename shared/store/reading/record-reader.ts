import { type HeldRecord, readRecord, readTrusted, Unreadable } from '../../codec/index.ts'
import type { ArchiveView } from './view.ts'

/**
 * Reads the record of a stored frame; undefined when it is unreadable, which is kept and counted but never refused. Where
 * no frame of the archive was found unreadable as it was appended, none is checked again.
 */
export function recordReader({ head }: ArchiveView): (payload: Uint8Array) => HeldRecord | undefined {
  const read = head.unreadable === 0 ? readTrusted : readRecord
  return (payload) => {
    try {
      return read(payload)
    } catch (error) {
      if (error instanceof Unreadable) return undefined
      throw error
    }
  }
}
