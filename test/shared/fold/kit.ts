import { encodeArchive, encodeRecord, type HeldRecord, readArchive, readRecord } from '#codec'
import { type Folding, fold, type Window, windowOf } from '#fold'
import type { ContextSnapshot, JournalRecord } from '#schema'

export function foldArchive(bytes: Uint8Array): Folding {
  let state: Folding
  for (const item of readArchive(bytes)) if (item.type === 'record') state = fold(state, item.record)
  return state
}

export const held = (record: JournalRecord): HeldRecord => readRecord(encodeRecord(record))
export const heldAll = (records: Iterable<JournalRecord>): HeldRecord[] => Array.from(records, held)
export const foldRecords = (records: Iterable<JournalRecord>) => foldArchive(encodeArchive(records))

/** A window as the codec reads it, from the JSON text of a ContextSnapshot or from one. */
export function windowFrom(snapshot: string | ContextSnapshot): Window {
  const payload =
    typeof snapshot === 'string'
      ? new TextEncoder().encode(`{"ContextCheckpoint":{"snapshot":${snapshot},"at":0}}`)
      : encodeRecord({ ContextCheckpoint: { snapshot, at: 0 } })
  const record = readRecord(payload)
  if (record.kind !== 'ContextCheckpoint') throw new Error('a window is needed')
  return windowOf(record.snapshot)
}
