import * as z from 'zod'
import { RunfoldError, tokenList, tokenMade, tokenRequest } from '#schema'
import { answerJson, answerNothing } from '../answer.ts'
import { defineRoute, type Route } from '../route.ts'

const need = ['admin', 'operator'] as const

const make = defineRoute({
  method: 'POST',
  path: '/v1/tokens',
  about: "Makes a token, never wider than the caller's own; it is shown this once",
  need,
  json: tokenRequest,
  answers: [{ status: 201, about: 'The token', schema: tokenMade }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'too_large', 'unsupported_media_type'],
  handle: async ({ parts, principal, body, audit }) => {
    audit('token.make')
    const made = await parts.tokens.make(principal, body)
    audit('token.make', made.token_id)
    return answerJson(made, { status: 201 })
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/v1/tokens',
  about: 'The tokens the caller may revoke, without their secret',
  need,
  answers: [{ status: 200, about: 'The tokens', schema: tokenList }],
  problems: ['bad_request', 'unauthorized', 'forbidden'],
  handle: async ({ parts, principal }) => answerJson({ items: await parts.tokens.list(principal) }),
})

const revoke = defineRoute({
  method: 'DELETE',
  path: '/v1/tokens/{token_id}',
  about: 'Revokes a token, effective within 60 s',
  need,
  params: z.object({ token_id: z.string().max(200) }),
  answers: [{ status: 204, about: 'Revoked' }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async ({ parts, principal, params, audit }) => {
    audit('token.revoke', params.token_id)
    if (await parts.tokens.revoke(principal, params.token_id)) return answerNothing(204)
    throw new RunfoldError('not_found', 'there is no such token')
  },
})

export const tokensRoutes: readonly Route[] = [make, list, revoke]
