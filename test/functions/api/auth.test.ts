import { describe, expect, it } from 'vitest'
import { SCOPES, type Scope } from '#schema'
import {
  checkpoint,
  header,
  join,
  makeRun,
  owner,
  PREAMBLE,
  SECRET,
  type TestClient,
  testApi,
} from './api-kit.ts'

/** Every route, how to call it, and the one scope it needs besides a token. */
const ROUTES: [
  name: string,
  scope: Scope | null,
  call: (client: TestClient, run: string) => ReturnType<TestClient['get']>,
][] = [
  ['GET capabilities', null, (c) => c.get('/v1/capabilities')],
  ['GET openapi.json', null, (c) => c.get('/v1/openapi.json')],
  ['POST lease', 'append', (c, run) => c.post(`/v1/runs/${run}/lease`, owner)],
  ['PUT lease', 'append', (c, run) => c.put(`/v1/runs/${run}/lease`, { epoch: 1 })],
  ['GET lease', 'read', (c, run) => c.get(`/v1/runs/${run}/lease`)],
  ['POST frames', 'append', (c, run) => c.append(run, 0, 1, PREAMBLE)],
  ['GET runs', 'read', (c) => c.get('/v1/runs')],
  ['GET run', 'read', (c, run) => c.get(`/v1/runs/${run}`)],
  ['HEAD run', 'read', (c, run) => c.head(`/v1/runs/${run}`)],
  ['GET archive', 'resume', (c, run) => c.get(`/v1/runs/${run}/archive`)],
  ['HEAD archive', 'resume', (c, run) => c.head(`/v1/runs/${run}/archive`)],
  ['GET records', 'read', (c, run) => c.get(`/v1/runs/${run}/records`)],
  ['GET fold', 'read', (c, run) => c.get(`/v1/runs/${run}/fold`)],
  ['GET points', 'read', (c, run) => c.get(`/v1/runs/${run}/points`)],
  ['GET point', 'read', (c, run) => c.get(`/v1/runs/${run}/points/0`)],
  ['GET diff', 'read', (c, run) => c.get(`/v1/runs/${run}/diff?from=0&to=1`)],
  ['POST verify', 'read', (c, run) => c.post(`/v1/runs/${run}/verify`, {})],
  ['DELETE lease', 'append', (c, run) => c.delete(`/v1/runs/${run}/lease?epoch=1`)],
  ['DELETE run', 'admin', (c, run) => c.delete(`/v1/runs/${run}?force=true`)],
]

describe('scopes', () => {
  it.each(ROUTES)('%s needs %s, and no other scope helps', async (_, scope, call) => {
    const { root, as, withScopes } = await testApi()
    await makeRun(root, 'a')
    expect((await call(as(null), 'a')).status).toBe(401)
    expect((await call(as('wrong'), 'a')).status).toBe(401)
    if (scope === null) return expect((await call(await withScopes('append'), 'a')).status).toBe(200)
    const others = await withScopes(...SCOPES.filter((one) => one !== scope))
    expect((await call(others, 'a')).status).toBe(403)
    expect((await call(await withScopes(scope), 'a')).status).toBeOneOf([200, 204])
  })

  it('health needs no token', async () => {
    const { as } = await testApi()
    expect((await as(null).get('/v1/health')).json).toEqual({ status: 'ok' })
  })

  it('force needs resume besides append, also where nobody would be overtaken', async () => {
    const { withScopes } = await testApi()
    const force = { ...owner, force: true }
    const answer = await (await withScopes('append')).post('/v1/runs/a/lease', force)
    expect(answer.json).toMatchObject({ code: 'forbidden', scope: 'resume' })
    expect((await (await withScopes('append', 'resume')).post('/v1/runs/a/lease', force)).status).toBe(201)
  })

  it('tokens take admin or operator', async () => {
    const { withScopes } = await testApi()
    for (const scope of ['admin', 'operator'] as const)
      expect((await (await withScopes(scope)).get('/v1/tokens')).status).toBe(200)
    const none = await withScopes('append', 'read', 'resume')
    expect((await none.get('/v1/tokens')).json).toMatchObject({ scope: 'admin or operator' })
    expect((await none.post('/v1/tokens', { name: 'x', scopes: ['read'] })).status).toBe(403)
  })
})

describe('the Authorization header', () => {
  it('takes a Bearer token in any case of the word, and nothing else', async () => {
    const { root, as, token } = await testApi()
    const { token: text } = await token(['read'])
    for (const good of [`Bearer ${text}`, `bearer ${text}`, `Bearer   ${text}`]) {
      expect((await as(null).get('/v1/runs', { authorization: good })).status).toBe(200)
    }
    for (const bad of [
      '',
      'Bearer',
      'Bearer  ',
      text,
      `Basic ${text}`,
      `Bearer ${text}x`,
      `Bearer ${text} x`,
      `Bearer ${text.slice(1)}`,
    ]) {
      expect((await as(null).get('/v1/runs', { authorization: bad })).status).toBe(401)
    }
    expect((await as(null).get(`/v1/runs?token=${text}`)).status).toBe(401)
    expect((await root.get('/v1/runs')).status).toBe(200)
  })
})

describe('tokens', () => {
  it('are made, listed without their text, and revoked', async () => {
    const { root, as } = await testApi()
    const made = (await root.post('/v1/tokens', { name: 'n', scopes: ['read'] })).json
    expect((await as(made.token).get('/v1/runs')).status).toBe(200)
    const listed = await root.get('/v1/tokens')
    expect(listed.json.items.map((row: { token_id: string }) => row.token_id)).toContain(made.token_id)
    expect(listed.text).not.toContain(made.token)
    expect((await root.delete(`/v1/tokens/${made.token_id}`)).status).toBe(204)
    expect((await as(made.token).get('/v1/runs')).status).toBe(401)
  })

  it('expire by server time', async () => {
    const { as, token, clock } = await testApi()
    const { token: text } = await token(['read'], { expires_at: new Date(clock.now() + 5000).toISOString() })
    expect((await as(text).get('/v1/runs')).status).toBe(200)
    clock.advance(5000)
    expect((await as(text).get('/v1/runs')).status).toBe(401)
  })

  it.each([
    {},
    { name: 'x' },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['root'] },
    { name: 'x', scopes: ['read'], run_prefix: '../' },
  ])('of an odd request %j are refused', async (body) => {
    const { root } = await testApi()
    expect((await root.post('/v1/tokens', body)).json).toMatchObject({ code: 'bad_request' })
  })
})

describe('bounds', () => {
  it('a run_prefix hides every other run', async () => {
    const { root, as, token } = await testApi()
    await makeRun(root, 'out')
    const inside = as((await token([...SCOPES], { run_prefix: 'in-' })).token)
    await makeRun(inside, 'in-1')
    for (const [, , call] of ROUTES.filter(([name]) => !/runs|capab|openapi/.test(name))) {
      expect((await call(inside, 'out')).status).toBe(403)
    }
    const cards = (await inside.get('/v1/runs')).json.items.map((card: { run_id: string }) => card.run_id)
    expect(cards).toEqual(['in-1'])
  })

  it("another tenant's runs are not there at all", async () => {
    const { root, as, token } = await testApi()
    const w = await makeRun(root, 'a')
    const foreign = as((await token(['append', 'read', 'resume', 'admin'], { tenant: 'elsewhere' })).token)
    for (const [name, , call] of ROUTES.filter(([name]) => !/runs|capab|openapi|POST lease/.test(name))) {
      expect([name, (await call(foreign, 'a')).status]).toEqual([name, 404])
    }
    expect((await foreign.get('/v1/runs')).json.items).toEqual([])
    expect((await foreign.post('/v1/runs/a/lease', owner)).status).toBe(201)
    expect((await root.get(w.path)).json.tail).toBe(w.tail)
  })
})

describe('the secret', () => {
  it('is in the archive and in no other answer, refusals included', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const spoiled = header('a', { status: 'none-such' })
    await root.append('a', w.tail, w.epoch, spoiled)
    expect((await root.get(`${w.path}/archive`)).text).toContain(SECRET)
    const paths = [
      '',
      '/lease',
      '/records',
      '/fold',
      '/fold?seq=1',
      '/points?shape=full',
      '/points?shape=delta',
      '/points/0',
      '/diff?from=0&to=1',
    ]
    const lines = { accept: 'application/x-ndjson' }
    const answers = [
      ...(await Promise.all(paths.map((path) => root.get(w.path + path)))),
      await root.get(`${w.path}/records`, lines),
      await root.get(`${w.path}/points?shape=full`, lines),
      await root.get('/v1/runs'),
      await root.get(`/v1/runs?q=${SECRET}`),
      await root.post(`${w.path}/verify`, {}),
      await root.append('a', 6, w.epoch, checkpoint(1)),
      await root.append('a', w.tail + spoiled.length, w.epoch, join(header('a').subarray(0, -1))),
      await root.append('a', 0, w.epoch, header('a')),
    ]
    for (const answer of answers) expect(answer.text).not.toContain(SECRET)
    expect((await root.get(`/v1/runs?q=${SECRET}`)).json.items).toEqual([])
  })
})
