import * as z from 'zod'
import { capabilities, healthAnswer } from '#schema'
import { answerJson } from '../answer.ts'
import { openApiOf } from '../openapi.ts'
import { defineRoute, type Route } from '../route.ts'

const health = defineRoute({
  method: 'GET',
  path: '/v1/health',
  about: 'Whether the server answers; no token is needed',
  need: 'nothing',
  answers: [{ status: 200, about: 'It does', schema: healthAnswer }],
  problems: ['bad_request'],
  handle: () => answerJson({ status: 'ok' }),
})

const describe = defineRoute({
  method: 'GET',
  path: '/v1/capabilities',
  about: 'Limits and features of this server',
  need: 'token',
  answers: [{ status: 200, about: 'Limits and features', schema: capabilities }],
  problems: ['bad_request', 'unauthorized'],
  handle: ({ parts }) =>
    answerJson({
      version: parts.version,
      format_versions: [1],
      limits: parts.limits,
      features: [...parts.features],
    } satisfies z.infer<typeof capabilities>),
})

/** The document of the routes that are offered, this one among them; it is made at the first request. */
const document = (offered: () => readonly Route[]) => {
  let made: object | undefined
  return defineRoute({
    method: 'GET',
    path: '/v1/openapi.json',
    about: 'This contract as OpenAPI 3.1',
    need: 'token',
    answers: [{ status: 200, about: 'The document', schema: z.looseObject({ openapi: z.string() }) }],
    problems: ['bad_request', 'unauthorized'],
    handle: ({ parts }) => {
      made ??= openApiOf(offered(), parts.version)
      return answerJson(made)
    },
  })
}

export const serviceRoutes = (offered: () => readonly Route[]) => [health, describe, document(offered)]
