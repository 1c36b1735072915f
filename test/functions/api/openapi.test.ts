import { describe, expect, it } from 'vitest'
import { FEATURES_OFFERED } from '../../../functions/api/features.ts'
import type { Login } from '../../../functions/api/login.ts'
import { testApi } from './api-kit.ts'

/** API.md, route by route: query parameters, then every status that is named. A feature's routes are added with it. */
const CONTRACT: Readonly<Record<string, readonly [query: string, statuses: string]>> = {
  'GET /v1/health': ['', '200'],
  'GET /v1/capabilities': ['', '200 401'],
  'GET /v1/openapi.json': ['', '200 401'],
  'POST /v1/runs/{run_id}/lease': ['', '200 201 400 401 403 409 413 415'],
  'PUT /v1/runs/{run_id}/lease': ['', '200 400 401 403 404 412'],
  'DELETE /v1/runs/{run_id}/lease': ['epoch', '204 400 401 403 404 412'],
  'GET /v1/runs/{run_id}/lease': ['', '200 401 403 404'],
  'POST /v1/claims': ['', '200 204 400 401 403 413 415'],
  'POST /v1/runs/{run_id}/frames': ['offset epoch', '200 400 401 403 404 409 412 413 415 422 500 503'],
  'POST /v1/runs/{run_id}/uploads': ['', '201 400 401 403 404 409 412 413'],
  'POST /v1/runs/{run_id}/uploads/{upload_id}/complete': ['', '200 400 401 403 404 409 412 422'],
  'DELETE /v1/runs/{run_id}/uploads/{upload_id}': ['', '204 401 403 404'],
  // Where the URLs of parts lead to on a server that keeps them itself; API.md leaves them to the server.
  'PUT /v1/parts/{storage_id}/{part_number}': ['length expires signature', '200 400 403 404 413'],
  'GET /v1/runs': ['status agent machine parent q since order limit cursor', '200 400 401 403'],
  'GET /v1/runs/{run_id}': ['', '200 304 401 403 404'],
  'HEAD /v1/runs/{run_id}': ['', '200 304 401 403 404'],
  'DELETE /v1/runs/{run_id}': ['force', '204 401 403 404 409'],
  'GET /v1/runs/{run_id}/archive': ['redirect', '200 206 304 400 401 403 404 416'],
  'HEAD /v1/runs/{run_id}/archive': ['redirect', '200 304 401 403 404'],
  'GET /v1/runs/{run_id}/records': ['from to kind limit cursor wait_s', '200 400 401 403 404'],
  'GET /v1/runs/{run_id}/events': ['offset', '200 400 401 403 404'],
  'GET /v1/runs/{run_id}/fold': ['parts seq point at', '200 304 400 401 403 404 416 422'],
  'GET /v1/runs/{run_id}/points': ['from limit order shape step cursor', '200 400 401 403 404'],
  'GET /v1/runs/{run_id}/points/{n}': ['', '200 400 401 403 404'],
  'GET /v1/runs/{run_id}/diff': ['from to', '200 400 401 403 404 416'],
  'POST /v1/runs/{run_id}/fork': ['', '201 400 401 403 404 409 413 415 416'],
  'GET /v1/runs/{run_id}/usage': ['', '200 401 403 404'],
  'POST /v1/runs/{run_id}/verify': ['from to', '200 400 401 403 404 416'],
  'GET /v1/sessions': ['harness machine cwd q limit cursor', '200 400 401 403'],
  'GET /v1/sessions/{harness}/{session_id}': ['machine agent', '200 206 304 400 401 403 404 413 416'],
  'HEAD /v1/sessions/{harness}/{session_id}': ['machine agent', '200 304 400 401 403 404'],
  // As for runs; `sync --verify` asks for it (SESSIONS.md 5).
  'POST /v1/sessions/{harness}/{session_id}/verify': ['machine', '200 400 401 403 404'],
  'DELETE /v1/sessions/{harness}/{session_id}': ['machine', '204 400 401 403 404'],
  'POST /v1/sessions/{harness}/{session_id}/files': [
    'machine path generation offset',
    '200 400 401 403 409 413 415 500 503',
  ],
  'GET /v1/sessions/{harness}/{session_id}/files': ['machine', '200 400 401 403 404'],
  'GET /v1/sessions/{harness}/{session_id}/files/raw': [
    'machine path generation',
    '200 206 304 400 401 403 404 413 416',
  ],
  'HEAD /v1/sessions/{harness}/{session_id}/files/raw': [
    'machine path generation',
    '200 304 400 401 403 404',
  ],
  'POST /v1/tokens': ['', '201 400 401 403'],
  'POST /v1/login': ['', '200 400 401 413 415'],
  'GET /v1/tokens': ['', '200 401 403'],
  'DELETE /v1/tokens/{token_id}': ['', '204 401 403 404'],
}

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: { content: object }
  readonly responses: object
}

const login: Login = {
  code: '',
  exchange: () => Promise.reject(new Error('nobody signs in here')),
}

async function operations() {
  const { root } = await testApi({ features: FEATURES_OFFERED, login })
  const doc = JSON.parse((await root.get('/v1/openapi.json')).text)
  const found = new Map<string, Operation>()
  for (const [path, item] of Object.entries<Record<string, Operation>>(doc.paths)) {
    for (const [method, operation] of Object.entries(item))
      found.set(`${method.toUpperCase()} ${path}`, operation)
  }
  return { doc, found }
}

describe('the OpenAPI document', () => {
  it('is 3.1 and names the routes of the contract, no more and no fewer', async () => {
    const { doc, found } = await operations()
    expect(doc.openapi).toMatch(/^3\.1\./)
    expect([...found.keys()].sort()).toEqual(Object.keys(CONTRACT).sort())
  })

  it.each(Object.entries(CONTRACT))(
    '%s has its parameters and statuses',
    async (route, [query, statuses]) => {
      const operation = (await operations()).found.get(route) as Operation
      const inQuery = operation.parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name }) => name)
      expect(inQuery.sort()).toEqual(query.split(' ').filter(Boolean).sort())
      const inPath = operation.parameters
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => `{${name}}`)
      expect(inPath).toEqual(route.match(/\{\w+\}/g) ?? [])
      for (const status of statuses.split(' ')) expect(Object.keys(operation.responses)).toContain(status)
    },
  )

  it('every reference leads somewhere, and no shape has lost its number', async () => {
    const { doc } = await operations()
    const text = JSON.stringify(doc)
    for (const [, name] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
      expect(name).toMatch(/^#\/components\/schemas\//)
      expect(doc.components.schemas).toHaveProperty((name as string).split('/').at(-1) as string)
    }
    expect(doc.components.schemas.Card.properties.iteration).toEqual({ type: ['integer', 'null'] })
  })

  it('clients may meet fields they do not know in answers, and may send none', async () => {
    const { doc } = await operations()
    expect(JSON.stringify(doc.components)).not.toContain('"additionalProperties":false')
    const { requestBody } = doc.paths['/v1/runs/{run_id}/lease'].post
    expect(requestBody.content['application/json'].schema.additionalProperties).toBe(false)
  })

  it('request headers that change an answer are parameters', async () => {
    const { found } = await operations()
    const headersOf = (route: string) =>
      found.get(route)?.parameters.flatMap(({ name, in: place }) => (place === 'header' ? [name] : []))
    expect(headersOf('GET /v1/runs/{run_id}/events')).toEqual(['Last-Event-ID'])
    expect(headersOf('GET /v1/runs/{run_id}/archive')).toEqual(['Range', 'If-Range', 'If-None-Match'])
    expect(headersOf('GET /v1/runs/{run_id}/fold')).toEqual(['If-None-Match'])
    expect(headersOf('GET /v1/runs')).toEqual([])
  })

  it('operations have names of their own', async () => {
    const { found } = await operations()
    expect(new Set([...found.values()].map(({ operationId }) => operationId)).size).toBe(found.size)
  })

  it('integers of queries are integers, with their bounds and defaults', async () => {
    const { found } = await operations()
    const limit = found.get('GET /v1/runs')?.parameters.find(({ name }) => name === 'limit')
    expect(limit).toMatchObject({
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    })
    const offset = found
      .get('POST /v1/runs/{run_id}/frames')
      ?.parameters.find(({ name }) => name === 'offset')
    expect(offset).toMatchObject({ required: true })
  })
})
