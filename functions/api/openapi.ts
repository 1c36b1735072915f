import * as z from 'zod'
import * as schema from '#schema'
import { BODY_ENCODINGS, PROBLEMS, type ProblemCode } from '#schema'
import type { AnswerShape, Route } from './route.ts'

/** The shapes that get a name in the document; whatever holds them refers to it. */
const NAMED = {
  Problem: schema.problem,
  Lease: schema.lease,
  LeaseAnswer: schema.leaseAnswer,
  Card: schema.card,
  RunMeta: schema.runMeta,
  ContextSnapshot: schema.contextSnapshot,
  ContextDelta: schema.contextDelta,
  JournalRecord: schema.journalRecord,
} as const

const QUERY_INTEGER = '^(0|[1-9][0-9]{0,15})$'

/** OpenAPI 3.1 of the routes, from the schemas that parse their requests. */
export function openApiOf(routes: readonly Route[], version: string): object {
  const names = z.registry<{ id: string }>()
  for (const [id, shape] of Object.entries(NAMED)) names.add(shape, { id })
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const shown = operation(route, names)
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
      schemas: components(names),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function operation(route: Route, names: Names): object {
  const scopes = [route.need].flat().join(' or ')
  return {
    operationId: operationId(route, route.method),
    summary: route.about,
    description:
      route.need === 'nothing'
        ? 'No token is needed.'
        : `Needs a token${scopes === 'token' ? '' : ` of scope ${scopes}`}.`,
    ...(route.need === 'nothing' && { security: [] }),
    parameters: [...parameters(route, 'path', names), ...parameters(route, 'query', names)],
    ...(route.json && {
      requestBody: {
        required: !route.bodyless,
        content: { 'application/json': { schema: shapeOf(route.json, 'input', names) } },
      },
    }),
    ...(route.bytes && { requestBody: bytesBody(route.bytes) }),
    responses: { ...answers(route, names), ...problems(route) },
  }
}

const operationId = (route: Route, method: string) =>
  [method.toLowerCase(), ...route.path.split('/').slice(2)].join('_').replaceAll(/\W+/g, '')

function parameters(route: Route, place: 'path' | 'query', names: Names): object[] {
  const declared = place === 'path' ? (route.params ?? z.object({})) : (route.query ?? z.object({}))
  const { properties = {}, required = [] } = shapeOf(declared, 'input', names)
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: shape,
  }))
}

const bytesBody = (types: readonly string[]) => ({
  required: true,
  description: `Content-Encoding ${BODY_ENCODINGS.join(' and ')} are taken; limits count decoded bytes.`,
  content: Object.fromEntries(types.map((type) => [type, {}])),
})

function answers(route: Route, names: Names): Record<string, object> {
  return Object.fromEntries(
    route.answers.map((answer) => [
      answer.status,
      { description: answer.about, ...headers(answer), ...content(answer, names) },
    ]),
  )
}

function content({ schema: shape, types = [] }: AnswerShape, names: Names): object {
  const json = shape ? [['application/json', { schema: shapeOf(shape, 'output', names) }]] : []
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

/** zod keeps named shapes beside each schema; in the document they stand once, among the components. */
function shapeOf(shape: z.ZodType, io: 'input' | 'output', names: Names): z.core.JSONSchema.BaseSchema {
  const { $schema, $defs, ...rest } = z.toJSONSchema(shape, { ...OPTIONS, io, metadata: names })
  return JSON.parse(JSON.stringify(rest).replaceAll('"#/$defs/', '"#/components/schemas/'))
}

function components(names: Names): object {
  const { schemas } = z.toJSONSchema(names, { ...OPTIONS, uri: (id) => `#/components/schemas/${id}` })
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...shape }]) => [id, shape]))
}

type Names = z.core.$ZodRegistry<{ id: string }>

const OPTIONS = {
  unrepresentable: 'any',
  override: ({
    zodSchema,
    jsonSchema,
  }: {
    zodSchema: z.core.$ZodType
    jsonSchema: z.core.JSONSchema.BaseSchema
  }) => {
    if (jsonSchema.pattern === QUERY_INTEGER)
      replace(jsonSchema, { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
    if (isInteger(zodSchema)) replace(jsonSchema, { type: 'integer' })
  },
} as const

/** Exact integers are a number or a bigint to us and one thing to JSON. */
const isInteger = ({ _zod: { def } }: z.core.$ZodType) =>
  def.type === 'union' &&
  (def as z.core.$ZodUnionDef).options.some((option) => option._zod.def.type === 'bigint')

function replace(shape: z.core.JSONSchema.BaseSchema, by: z.core.JSONSchema.BaseSchema): void {
  for (const key of Object.keys(shape)) delete shape[key]
  Object.assign(shape, by)
}
