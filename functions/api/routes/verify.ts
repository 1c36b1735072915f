import * as z from 'zod'
import { runId, verifyQuery, verifyAnswer as verifyShape } from '#schema'
import { verifyAnswer } from '#store'
import { answerJson } from '../answer.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const check = defineRoute({
  method: 'POST',
  path: '/v1/runs/{run_id}/verify',
  about: 'Reads every stored byte again and tells what is damaged',
  need: 'read',
  params: z.object({ run_id: runId }),
  query: verifyQuery,
  json: z.strictObject({}),
  bodyless: true,
  answers: [{ status: 200, about: 'What was found', schema: verifyShape }],
  problems: [
    'bad_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'too_large',
    'unsupported_media_type',
    'range_not_satisfiable',
  ],
  handle: async (call) => {
    const view = await call.parts.archive.view(runOf(call))
    return answerJson(await verifyAnswer(view, call.query))
  },
})

export const verifyRoutes: readonly Route[] = [check]
