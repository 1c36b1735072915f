import { RunfoldError } from '#schema'
import type { ByteRange } from '#store'

/**
 * The one byte range a request asks for, cut to the tail. Undefined means the whole: no header, another unit, a
 * malformed one (RFC 9110, 14.2: ignored), or several ranges, which a server may answer whole.
 *
 * @throws range_not_satisfiable with the tail when it begins past the end or is empty
 */
export function byteRange(header: string | null, tail: number): ByteRange | undefined {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '')
  if (!match) return undefined
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, tail - Number(last)) : Number(first)
  const end = first === '' || last === '' ? tail : Math.min(tail, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  if (start >= tail || start >= end) {
    throw new RunfoldError('range_not_satisfiable', `the archive ends at ${tail}`, { tail })
  }
  return { start, end }
}
