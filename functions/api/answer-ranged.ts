import { RunfoldError } from '#schema'
import type { ByteRange } from '#store'
import { answerNothing, answerStream } from './answer.ts'
import { noneMatch } from './etag.ts'
import { byteRange } from './range.ts'
import type { Call } from './route.ts'

/** Stored bytes that are given whole or in ranges. */
export interface Ranged {
  readonly length: number
  /** Without its quotes; of these very bytes. */
  readonly digest: string
  readonly type: string
  readonly fileName: string
  /** Of a range, or where none is asked for of all of it. */
  bytes(range: ByteRange | undefined): AsyncIterable<Uint8Array>
}

/** GET and HEAD of stored bytes: conditions, one range, and what the platform does not let through. */
export async function answerRanged(call: Call, stored: Ranged): Promise<Response> {
  const { length, digest, type, fileName } = stored
  const etag = `"${digest}"`
  if (noneMatch(call.headers.get('if-none-match'), etag)) return answerNothing(304, { ETag: etag })
  const range = call.head ? undefined : rangeOf(call, etag, length)
  if (!range && !call.head) checkLength(call, length)
  const { start, end } = range ?? { start: 0, end: length }
  const headers = {
    'Content-Type': type,
    'Content-Length': String(end - start),
    'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName).replaceAll("'", '%27')}`,
    'Accept-Ranges': 'bytes',
    ETag: etag,
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${length}` }),
  }
  const init = { status: range ? 206 : 200, headers, stillAllowed: call.stillAllowed, sent: call.sent }
  return answerStream(call.head ? [] : stored.bytes(range), init)
}

/** With If-Range, the range counts only of the very bytes the caller has the rest of (RFC 9110, 13.1.5 and 15.3.7). */
function rangeOf(call: Call, etag: string, length: number): ByteRange | undefined {
  const condition = call.headers.get('if-range')
  if (condition !== null && condition !== etag) return undefined
  const range = byteRange(call.headers.get('range'), length)
  return range && { start: range.start, end: Math.min(range.end, range.start + mostOf(call)) }
}

function checkLength(call: Call, length: number): void {
  const max_answer_bytes = mostOf(call)
  if (length <= max_answer_bytes) return
  const message = 'it is larger than an answer may be here; ask with a Range'
  throw new RunfoldError('too_large', message, { max_answer_bytes, tail: length })
}

const mostOf = ({ parts: { maxAnswerBytes = Number.POSITIVE_INFINITY } }: Call) => maxAnswerBytes
