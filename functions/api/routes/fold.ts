import * as z from 'zod'
import { foldQuery, foldAnswer as foldShape, runId } from '#schema'
import { foldAnswer, foldTag } from '#store'
import { answerJson, answerNothing } from '../answer.ts'
import { noneMatch } from '../etag.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const show = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/fold',
  about: 'What the records amount to, at the end or after a seq, a point or a time',
  need: 'read',
  params: z.object({ run_id: runId }),
  query: foldQuery,
  answers: [
    { status: 200, about: 'The state', schema: foldShape, headers: ['ETag'] },
    { status: 304, about: 'It is as the If-None-Match says' },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'range_not_satisfiable', 'bad_frames'],
  handle: async (call) => {
    const view = await call.parts.archive.view(runOf(call))
    const headers = { ETag: foldTag(view, call.query) }
    const condition = call.headers.get('if-none-match')
    // A tag is only held of a state that could be folded, so nothing needs folding to see that it still stands; `*` says no such thing.
    if (condition !== '*' && noneMatch(condition, headers.ETag)) return answerNothing(304, headers)
    const answer = await foldAnswer(view, call.query)
    return condition === '*'
      ? answerNothing(304, headers)
      : answerJson(answer, { stillAllowed: call.stillAllowed, headers })
  },
})

export const foldRoutes: readonly Route[] = [show]
