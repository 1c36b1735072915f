import { NDJSON } from './answer.ts'
import { badRequest } from './issues.ts'

/** Whether the caller asks for an item a line. */
export const wantsLines = (headers: Headers): boolean =>
  (headers.get('accept') ?? '')
    .split(',')
    .some((type) => type.split(';', 1)[0]?.trim().toLowerCase() === NDJSON)

/** Lines are given to the end; a limit that is accepted and ignored would be worse than none. */
export function refuseLimit(asked: Readonly<Record<string, string>>): void {
  if (asked.limit === undefined) return
  throw badRequest([{ path: 'limit', message: `does not go with ${NDJSON}, which gives every item` }])
}
