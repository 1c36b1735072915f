import { type Frame, frameLength, PREFIX_BYTES } from './frame.ts'
import type { HeldRecord } from './held.ts'
import { type ReadPayload, readFrames } from './reader.ts'
import { readRecord, scanRecord } from './record.ts'
import { Unreadable } from './unreadable.ts'

/**
 * A record found behind a torn tail. It is marked, and enters no fold, point, count or offset that is not marked too
 * (LVR1.md 6i). Its `seq` counts salvaged frames only.
 */
export interface SalvagedRecord<R = HeldRecord> {
  readonly salvaged: true
  readonly frame: Frame
  readonly record: R
}

/**
 * Searches behind a torn tail for frames that were appended after the tear. Only ever on explicit demand.
 *
 * @param bytes the whole archive
 * @param tail the offset of the torn tail
 */
export function salvage(bytes: Uint8Array, tail: number): Generator<SalvagedRecord, void, undefined>
export function salvage<R>(
  bytes: Uint8Array,
  tail: number,
  read: ReadPayload<R>,
): Generator<SalvagedRecord<R>, void, undefined>
export function* salvage(bytes: Uint8Array, tail: number, read: ReadPayload<unknown> = readRecord) {
  let seq = 0
  for (let start = nextRecord(bytes, tail + 1); start >= 0; ) {
    let torn: number | undefined
    for (const item of readFrames(bytes.subarray(start), { offset: start }, read)) {
      if (item.type === 'torn') torn = item.offset
      else if (item.type === 'record') {
        yield { salvaged: true as const, frame: { ...item.frame, seq: seq++ }, record: item.record }
      }
    }
    if (torn === undefined) return
    start = nextRecord(bytes, torn + 1)
  }
}

/** The next place from `at` on where a whole frame holds a record we know; -1 when there is none. */
function nextRecord(bytes: Uint8Array, at: number): number {
  for (;;) {
    const brace = bytes.indexOf(0x7b, at + PREFIX_BYTES)
    if (brace < 0) return -1
    const start = brace - PREFIX_BYTES
    if (bytes[brace + 1] === 0x22 && holdsRecord(bytes, start)) return start
    at = start + 1
  }
}

function holdsRecord(bytes: Uint8Array, start: number): boolean {
  const size = frameLength(bytes, start)
  const payload = start + PREFIX_BYTES
  if (size === undefined || size > bytes.length - payload) return false
  return !(scanRecord(bytes.subarray(payload, payload + size)) instanceof Unreadable)
}
