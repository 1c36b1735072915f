import { isRunfoldError } from '../schema/index.ts'
import { type ArchiveItem, readArchive, type TornTail } from './reader.ts'
import { type Scan, scanRecord } from './record.ts'
import { salvage } from './salvage.ts'

const COLUMNS = ['seq', 'offset', 'length', 'kind', 'at']
const WIDTHS = [6, 12, 10, 18]

/**
 * Explains any bytes to a person, a line at a time: where each frame stands, what it is, what is wrong, and what a
 * salvage would find. It shows no text of the payloads, so it may be pasted into an issue.
 */
export function* inspect(bytes: Uint8Array): Generator<string, void, undefined> {
  yield row(COLUMNS)
  const counts = { records: 0, points: 0, unreadable: 0 }
  try {
    for (const item of readArchive(bytes, scanRecord)) {
      if (item.type === 'record') {
        counts.records++
        if (item.record.point) counts.points++
      } else if (item.type === 'unreadable') counts.unreadable++
      yield lineOf(item)
      if (item.type === 'torn') yield* salvageHints(bytes, item)
    }
    yield `${bytes.length} bytes, ${counts.records} records, ${counts.points} points, ${counts.unreadable} unreadable frames`
  } catch (error) {
    if (!isRunfoldError(error, 'bad_frames')) throw error
    yield `${bytes.length} bytes, not an archive this reader knows: ${error.message}`
  }
}

function lineOf(item: ArchiveItem<Scan>): string {
  if (item.type === 'torn') {
    return row([item.seq, item.offset, item.length, `torn tail: ${item.reason}, to the end of the file`])
  }
  const { seq, offset, length } = item.frame
  if (item.type === 'unreadable') return row([seq, offset, length, `unreadable: ${item.reason}`])
  return row([seq, offset, length, item.record.kind, item.record.at ?? '-'])
}

function* salvageHints(bytes: Uint8Array, tail: TornTail): Generator<string> {
  let found = 0
  for (const { frame, record } of salvage(bytes, tail.offset, scanRecord)) {
    found++
    yield row(['salvage', frame.offset, frame.length, record.kind, record.at ?? '-'])
  }
  yield `${found} records could be salvaged behind the torn tail`
}

function row(cells: readonly (string | number | bigint)[]): string {
  return cells
    .map((cell, i) => String(cell).padEnd(WIDTHS[i] ?? 0))
    .join(' ')
    .trimEnd()
}
