import * as z from 'zod'
import { runId, usageAnswer as usageShape } from '#schema'
import { usageAnswer } from '#store'
import { answerJson } from '../answer.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const show = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/usage',
  about: 'The tokens that were used, by model, stage and kind and over time; each call is counted once',
  need: 'read',
  feature: 'usage',
  params: z.object({ run_id: runId }),
  answers: [{ status: 200, about: 'The sums, and which records they were made of', schema: usageShape }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => answerJson(await usageAnswer(await call.parts.archive.view(runOf(call)))),
})

export const usageRoutes: readonly Route[] = [show]
