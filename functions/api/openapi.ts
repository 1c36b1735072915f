import * as z from 'zod'
import { BODY_ENCODINGS, EVENTS_MEDIA_TYPE, lastEventId, PROBLEMS, type ProblemCode } from '#schema'
import { namedShapes, shapeOf } from './json-schema.ts'
import type { AnswerShape, Route } from './route.ts'

/** OpenAPI 3.1 of the routes, from the schemas that parse their requests. */
export function openApiOf(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const shown = operation(route)
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: shown,
      ...(route.head && { head: { ...shown, operationId: operationId(route, 'HEAD') } }),
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'runfold', version, description: 'Keeps the journals of AI-agent runs.' },
    security: [{ token: [] }],
    paths,
    components: {
      schemas: namedShapes(),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function operation(route: Route): object {
  const scopes = [route.need].flat().join(' or ')
  return {
    operationId: operationId(route, route.method),
    summary: route.about,
    description:
      route.need === 'nothing'
        ? 'No token is needed.'
        : `Needs a token${scopes === 'token' ? '' : ` of scope ${scopes}`}.`,
    ...(route.need === 'nothing' && { security: [] }),
    parameters: [...parameters(route, 'path'), ...parameters(route, 'query'), ...headerParameters(route)],
    ...(route.json && {
      requestBody: {
        required: !route.bodyless,
        content: { 'application/json': { schema: shapeOf(route.json, 'input') } },
      },
    }),
    ...(route.bytes && { requestBody: bytesBody(route.bytes) }),
    responses: { ...answers(route), ...problems(route) },
  }
}

const operationId = (route: Route, method: string) =>
  [method.toLowerCase(), ...route.path.split('/').slice(2)].join('_').replaceAll(/\W+/g, '')

function parameters(route: Route, place: 'path' | 'query'): object[] {
  const declared = place === 'path' ? (route.params ?? z.object({})) : (route.query ?? z.object({}))
  const { properties = {}, required = [] } = shapeOf(declared, 'input')
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: shape,
  }))
}

/** Which request headers count follows from what a route answers: parts of a body, nothing new, a stream to take up again. */
function headerParameters({ answers }: Route): object[] {
  const text = { type: 'string' }
  const shapes: Record<string, object> = {
    ...(answers.some(({ status }) => status === 206) && { Range: text, 'If-Range': text }),
    ...(answers.some(({ status }) => status === 304) && { 'If-None-Match': text }),
    ...(answers.some(({ types }) => types?.includes(EVENTS_MEDIA_TYPE)) &&
      shapeOf(lastEventId, 'input').properties),
  }
  return Object.entries(shapes).map(([name, schema]) => ({ name, in: 'header', required: false, schema }))
}

const bytesBody = (types: readonly string[]) => ({
  required: true,
  description: `Content-Encoding ${BODY_ENCODINGS.join(' and ')} are taken; limits count decoded bytes.`,
  content: Object.fromEntries(types.map((type) => [type, {}])),
})

function answers(route: Route): Record<string, object> {
  return Object.fromEntries(
    route.answers.map((answer) => [
      answer.status,
      { description: answer.about, ...headers(answer), ...content(answer) },
    ]),
  )
}

function content({ schema: shape, types = [] }: AnswerShape): object {
  const json = shape ? [['application/json', { schema: shapeOf(shape, 'output') }]] : []
  const all = [...json, ...types.map((type) => [type, {}])]
  return all.length > 0 ? { content: Object.fromEntries(all) } : {}
}

const headers = ({ headers: listed }: AnswerShape) =>
  listed ? { headers: Object.fromEntries(listed.map((name) => [name, { schema: { type: 'string' } }])) } : {}

/** Every route may also answer that something failed inside, or that it is too busy. */
function problems(route: Route): Record<string, object> {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of [...route.problems, 'internal', 'slow_down', 'unavailable'] as const) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, problemAnswer(codes)]))
}

const problemAnswer = (codes: readonly ProblemCode[]) => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('. '),
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})
