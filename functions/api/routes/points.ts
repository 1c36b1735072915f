import * as z from 'zod'
import { fullPoint, pointsAnswer, pointsQuery, queryInt, runId } from '#schema'
import { pointAnswer, pointsPage, pointsStream } from '#store'
import { answerJson, answerLines, NDJSON } from '../answer.ts'
import { refuseLimit, wantsLines } from '../lines.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const list = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/points',
  about: 'The context window at every point: a page, or all of them as application/x-ndjson',
  need: 'read',
  params: z.object({ run_id: runId }),
  query: pointsQuery,
  answers: [{ status: 200, about: 'A page, or an item a line', schema: pointsAnswer, types: [NDJSON] }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => {
    const lines = wantsLines(call.headers)
    if (lines) refuseLimit(call.asked)
    const view = await call.parts.archive.view(runOf(call))
    if (lines) return answerLines(pointsStream(view, call.query), { stillAllowed: call.stillAllowed })
    return answerJson(await pointsPage(view, call.query), { stillAllowed: call.stillAllowed })
  },
})

const one = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/points/{n}',
  about: 'One point, whole',
  need: 'read',
  params: z.object({ run_id: runId, n: queryInt }),
  answers: [{ status: 200, about: 'The point', schema: fullPoint }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => {
    const view = await call.parts.archive.view(runOf(call))
    return answerJson(await pointAnswer(view, call.params.n), { stillAllowed: call.stillAllowed })
  },
})

export const pointsRoutes: readonly Route[] = [list, one]
