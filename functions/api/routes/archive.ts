import * as z from 'zod'
import { archiveQuery, LVR1_MEDIA_TYPE, runId } from '#schema'
import { soundBytes } from '#store'
import { answerNothing, answerStream } from '../answer.ts'
import { noneMatch } from '../etag.ts'
import { byteRange } from '../range.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const download = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/archive',
  about: 'The archive byte for byte, whole or a range of it. This server never answers a redirect',
  need: 'resume',
  head: true,
  params: z.object({ run_id: runId }),
  query: archiveQuery,
  answers: [
    { status: 200, about: 'All bytes', types: [LVR1_MEDIA_TYPE], headers: ['ETag', 'Content-Disposition'] },
    { status: 206, about: 'The range', types: [LVR1_MEDIA_TYPE], headers: ['ETag', 'Content-Range'] },
    { status: 304, about: 'It is as the If-None-Match says' },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'range_not_satisfiable'],
  handle: async (call) => {
    const view = await call.parts.archive.view(runOf(call))
    const { tail, digest } = view.head
    const etag = `"${digest}"`
    if (noneMatch(call.headers.get('if-none-match'), etag)) return answerNothing(304, { ETag: etag })
    const range = call.head ? undefined : rangeOf(call.headers, etag, tail)
    const { start, end } = range ?? { start: 0, end: tail }
    const headers = {
      'Content-Type': LVR1_MEDIA_TYPE,
      'Content-Length': String(end - start),
      'Content-Disposition': `attachment; filename="${view.run.run_id}.lvr"`,
      'Accept-Ranges': 'bytes',
      ETag: etag,
      ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${tail}` }),
    }
    const init = { status: range ? 206 : 200, headers, stillAllowed: call.stillAllowed }
    if (call.head) return answerStream([], init)
    return answerStream(range ? view.bytes(start, end) : soundBytes(view), init)
  },
})

/** With If-Range, the range counts only of the very bytes the caller has the rest of (RFC 9110, 13.1.5). */
function rangeOf(headers: Headers, etag: string, tail: number) {
  const condition = headers.get('if-range')
  return condition !== null && condition !== etag ? undefined : byteRange(headers.get('range'), tail)
}

export const archiveRoutes: readonly Route[] = [download]
