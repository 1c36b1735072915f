import { claimRequest, leaseAnswer } from '#schema'
import { answerJson, answerNothing } from '../answer.ts'
import { requireScope } from '../auth.ts'
import { defineRoute, type Route } from '../route.ts'

const claim = defineRoute({
  method: 'POST',
  path: '/v1/claims',
  about:
    'Hands out one unfinished run that nobody holds and whose `requires` are among the capabilities, the one that has waited longest. Needs both scopes, `append` and `resume`',
  need: 'resume',
  feature: 'claims',
  json: claimRequest,
  answers: [
    { status: 200, about: 'The lease of the run', schema: leaseAnswer },
    { status: 204, about: 'There was none within `wait_s`' },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'too_large', 'unsupported_media_type'],
  handle: async (call) => {
    requireScope(call.principal, 'append')
    const { tenant, run_prefix } = call.principal
    const signal = call.leaving()
    const answer = await call.parts.archive.claim(tenant, call.body, { run_prefix, signal })
    return answer ? answerJson(answer) : answerNothing(204)
  },
})

export const claimsRoutes: readonly Route[] = [claim]
