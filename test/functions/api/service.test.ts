import { describe, expect, it } from 'vitest'
import { makeRun, testApi } from './api-kit.ts'

describe('service', () => {
  it('capabilities tell limits and features', async () => {
    const { root } = await testApi()
    expect((await root.get('/v1/capabilities')).json).toEqual({
      version: '0.0.0',
      format_versions: [1],
      limits: {
        max_batch_bytes: 8388608,
        max_frame_bytes: 268435456,
        lease_ttl_s: { min: 5, default: 60, max: 3600 },
        page_max: 1000,
      },
      features: [],
    })
  })

  it('every answer has a request id of its own, and what holds data is not to be stored', async () => {
    const { root } = await testApi()
    const answers = [await root.get('/v1/health'), await root.get('/v1/runs'), await root.get('/v1/none')]
    expect(new Set(answers.map((answer) => answer.headers.get('runfold-request-id'))).size).toBe(3)
    for (const answer of answers) expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('one event a request tells the observer how it ended', async () => {
    const { root, events } = await testApi()
    await makeRun(root, 'a')
    await root.get('/v1/runs/a/fold?seq=9')
    expect(events.at(-1)).toMatchObject({
      method: 'GET',
      route: '/v1/runs/{run_id}/fold',
      run_id: 'a',
      status: 416,
      code: 'range_not_satisfiable',
    })
    await root.get('/v1/none')
    expect(events.at(-1)).toMatchObject({ route: undefined, status: 404, code: 'not_found' })
  })

  it('routes of absent features do not exist', async () => {
    const { root } = await testApi()
    for (const path of ['uploads', 'fork', 'events', 'usage']) {
      expect((await root.post(`/v1/runs/a/${path}`, {})).status).toBe(404)
    }
    for (const path of ['/v1/claims', '/v1/sessions/claude-code/x/files']) {
      expect((await root.post(path, {})).status).toBe(404)
    }
  })
})
