import * as z from 'zod'
import { diffQuery, diffAnswer as diffShape, runId } from '#schema'
import { diffAnswer } from '#store'
import { answerJson } from '../answer.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const show = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/diff',
  about: 'The delta that makes the window of one point that of another',
  need: 'read',
  params: z.object({ run_id: runId }),
  query: diffQuery,
  answers: [{ status: 200, about: 'The delta', schema: diffShape }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'range_not_satisfiable'],
  handle: async (call) => {
    const view = await call.parts.archive.view(runOf(call))
    return answerJson(await diffAnswer(view, call.query), { stillAllowed: call.stillAllowed })
  },
})

export const diffRoutes: readonly Route[] = [show]
