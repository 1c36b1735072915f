import { NDJSON } from './answer.ts'
import { badRequest } from './issues.ts'

/** Whether the caller asks for an item a line; with a weight of 0 it says that it takes none (RFC 9110, 12.4.2). */
export const wantsLines = (headers: Headers): boolean =>
  (headers.get('accept') ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()))
    .some(([type, ...more]) => type === NDJSON && !more.some((part) => /^q=0(\.0{0,3})?$/.test(part)))

/** Lines are given to the end; a limit that is accepted and ignored would be worse than none. */
export function refuseLimit(asked: Readonly<Record<string, string>>): void {
  if (asked.limit === undefined) return
  throw badRequest([{ path: 'limit', message: `does not go with ${NDJSON}, which gives every item` }])
}
