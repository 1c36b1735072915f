import { beforeEach, describe, expect, it } from 'vitest'
import { makeRun, testApi } from './api-kit.ts'

const asking = { seq: 2, run_id: 'a-fork', machine_id: 'm-2', world_id: 'w-2' }
let api: Awaited<ReturnType<typeof testApi>>

beforeEach(async () => {
  api = await testApi({ features: ['fork'] })
  await makeRun(api.root, 'a-run')
})

describe('a fork', () => {
  it('is answered with the lease of the new run, and the same again', async () => {
    const first = await api.root.post('/v1/runs/a-run/fork', asking)
    expect([first.status, first.json]).toMatchObject([
      201,
      { run_id: 'a-fork', epoch: 1, frames: 2, points: 1 },
    ])
    const again = await api.root.post('/v1/runs/a-run/fork', asking)
    expect([again.status, again.json]).toMatchObject([201, { epoch: 1, tail: first.json.tail }])
    const copied = await api.root.get('/v1/runs/a-fork/archive')
    const source = await api.root.get('/v1/runs/a-run/archive')
    expect(copied.text).toBe(source.text.slice(0, first.json.tail))
  })

  it.each([
    [['append', 'read'], 'resume'],
    [['resume', 'read'], 'append'],
  ] as const)('with the scopes %s needs %s too', async (scopes, missing) => {
    const client = await api.withScopes(...scopes)
    const answer = await client.post('/v1/runs/a-run/fork', asking)
    expect(answer.json).toMatchObject({ status: 403, scope: missing })
    expect((await api.root.get('/v1/runs/a-fork')).status).toBe(404)
  })

  it('stays within the prefix of the token, both of its source and of its name', async () => {
    await makeRun(api.root, 'b-run')
    const client = api.as((await api.token(['append', 'resume'], { run_prefix: 'a-' })).token)
    expect((await client.post('/v1/runs/a-run/fork', asking)).status).toBe(201)
    expect((await client.post('/v1/runs/a-run/fork', { ...asking, run_id: 'b-fork' })).json.status).toBe(403)
    expect((await client.post('/v1/runs/b-run/fork', { ...asking, run_id: 'a-other' })).json.status).toBe(403)
    for (const run of ['b-fork', 'a-other']) expect((await api.root.get(`/v1/runs/${run}`)).status).toBe(404)
  })

  it('of another tenant is of no run', async () => {
    const client = api.as((await api.token(['append', 'resume'], { tenant: 'other' })).token)
    expect((await client.post('/v1/runs/a-run/fork', asking)).json).toMatchObject({ status: 404 })
  })

  it('past the end is 416 with the tail, onto a run that is there 409', async () => {
    const { json: run } = await api.root.get('/v1/runs/a-run')
    const past = await api.root.post('/v1/runs/a-run/fork', { ...asking, seq: 4 })
    expect(past.json).toMatchObject({ code: 'range_not_satisfiable', tail: run.tail })
    const onto = await api.root.post('/v1/runs/a-run/fork', { ...asking, run_id: 'a-run' })
    expect(onto.json).toMatchObject({ status: 409, code: 'exists' })
  })
})
