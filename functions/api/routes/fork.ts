import * as z from 'zod'
import { forkRequest, leaseAnswer, runId } from '#schema'
import { answerJson } from '../answer.ts'
import { requirePrefix, requireScope } from '../auth.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const fork = defineRoute({
  method: 'POST',
  path: '/v1/runs/{run_id}/fork',
  about:
    'A new run that begins with the first `seq` frames of this one, leased to the caller. Needs both scopes, `append` and `resume`; the same request again is answered again',
  need: 'resume',
  feature: 'fork',
  params: z.object({ run_id: runId }),
  json: forkRequest,
  answers: [{ status: 201, about: 'The lease of the new run', schema: leaseAnswer }],
  problems: [
    'bad_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'exists',
    'lease_held',
    'too_large',
    'unsupported_media_type',
    'range_not_satisfiable',
  ],
  handle: async (call) => {
    requireScope(call.principal, 'append')
    requirePrefix(call.principal, call.body.run_id)
    return answerJson(await call.parts.archive.fork(runOf(call), call.body), { status: 201 })
  },
})

export const forkRoutes: readonly Route[] = [fork]
