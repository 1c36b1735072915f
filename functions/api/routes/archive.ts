import * as z from 'zod'
import { archiveQuery, LVR1_MEDIA_TYPE, RunfoldError, runId } from '#schema'
import { archiveUrl, type ByteRange, soundBytes } from '#store'
import { answerNothing, answerStream } from '../answer.ts'
import { noneMatch } from '../etag.ts'
import { byteRange } from '../range.ts'
import { type Call, defineRoute, type Route, runOf } from '../route.ts'

/** API.md: how long a presigned URL lives. */
const URL_SECONDS = 300

const download = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/archive',
  about:
    'The archive byte for byte, whole or a range of it. With `redirect=true` the storage itself may give it, where one object holds it',
  need: 'resume',
  head: true,
  params: z.object({ run_id: runId }),
  query: archiveQuery,
  answers: [
    { status: 200, about: 'All bytes', types: [LVR1_MEDIA_TYPE], headers: ['ETag', 'Content-Disposition'] },
    {
      status: 206,
      about: 'The range, or its first bytes where the platform lets no more through',
      types: [LVR1_MEDIA_TYPE],
      headers: ['ETag', 'Content-Range'],
    },
    { status: 303, about: 'Where the storage gives it for five minutes', headers: ['ETag', 'Location'] },
    { status: 304, about: 'It is as the If-None-Match says' },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'range_not_satisfiable', 'too_large'],
  handle: async (call) => {
    if (!call.head) call.audit('archive.read')
    const view = await call.parts.archive.view(runOf(call))
    const { tail, digest } = view.head
    const etag = `"${digest}"`
    if (noneMatch(call.headers.get('if-none-match'), etag)) return answerNothing(304, { ETag: etag })
    const range = call.head ? undefined : rangeOf(call, etag, tail)
    if (call.query.redirect && !range && !call.head) {
      const Location = await archiveUrl(call.parts.archive, view, URL_SECONDS)
      if (Location !== undefined) return answerNothing(303, { ETag: etag, Location })
    }
    const { start, end } = range ?? { start: 0, end: tail }
    if (!range && !call.head) checkLength(call, tail)
    const headers = {
      'Content-Type': LVR1_MEDIA_TYPE,
      'Content-Length': String(end - start),
      'Content-Disposition': `attachment; filename="${view.run.run_id}.lvr"`,
      'Accept-Ranges': 'bytes',
      ETag: etag,
      ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${tail}` }),
    }
    const init = { status: range ? 206 : 200, headers, stillAllowed: call.stillAllowed, sent: call.sent }
    if (call.head) return answerStream([], init)
    return answerStream(range ? view.bytes(start, end) : soundBytes(view), init)
  },
})

/**
 * With If-Range, the range counts only of the very bytes the caller has the rest of (RFC 9110, 13.1.5). Of a range that the
 * platform does not let through the first bytes are given: who asks for one looks at what came (15.3.7).
 */
function rangeOf({ headers, parts }: Call, etag: string, tail: number): ByteRange | undefined {
  const condition = headers.get('if-range')
  if (condition !== null && condition !== etag) return undefined
  const range = byteRange(headers.get('range'), tail)
  return range && { start: range.start, end: Math.min(range.end, range.start + mostOf(parts)) }
}

function checkLength({ parts }: Call, tail: number): void {
  const max_answer_bytes = mostOf(parts)
  if (tail <= max_answer_bytes) return
  const message = `the archive is larger than an answer may be here; ask with a Range, or with redirect=true`
  throw new RunfoldError('too_large', message, { max_answer_bytes, tail })
}

const mostOf = ({ maxAnswerBytes = Number.POSITIVE_INFINITY }: Call['parts']) => maxAnswerBytes

export const archiveRoutes: readonly Route[] = [download]
