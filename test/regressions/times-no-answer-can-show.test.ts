import { expect, it } from 'vitest'
import { testApi } from '../functions/api/api-kit.ts'

// A token that expires at 9999-12-31T23:59:59-01:00 was made, and listed ever after as of the year +010000, which is no RFC
// 3339 and which our own client refuses to read. The small letters that RFC 3339 allows were refused.

const token = (expires_at: string) => ({ name: 't', scopes: ['read'], expires_at })

it('a token expires in a year of four digits, wherever it was asked for', async () => {
  const { root } = await testApi()
  const late = await root.post('/v1/tokens', token('9999-12-31T23:59:59-01:00'))
  expect([late.status, late.json]).toMatchObject([400, { issues: [{ path: 'expires_at' }] }])
  const last = await root.post('/v1/tokens', token('9999-12-31T23:59:59.999999Z'))
  expect([last.status, last.json]).toMatchObject([201, { expires_at: '9999-12-31T23:59:59.999Z' }])
})

it('times may be written in small letters', async () => {
  const { root } = await testApi()
  const made = await root.post('/v1/tokens', token('2099-01-01t00:00:00z'))
  expect([made.status, made.json]).toMatchObject([201, { expires_at: '2099-01-01T00:00:00.000Z' }])
  expect((await root.get('/v1/runs?since=2026-01-01t00:00:00z')).status).toBe(200)
  for (const odd of ['2026-01-01T00:00:00', '2026-01-01', '1', 'z']) {
    const { status, json } = await root.get(`/v1/runs?since=${odd}`)
    expect([status, json.issues.length]).toEqual([400, 1])
  }
})

it('a listing since the finest part of a millisecond later leaves the run out', async () => {
  const { root } = await testApi()
  await root.post('/v1/runs/r/lease', { machine_id: 'm', world_id: 'w' })
  const { created_at } = (await root.get('/v1/runs/r')).json
  const since = async (time: string) => (await root.get(`/v1/runs?since=${time}`)).json.items.length
  expect(await since(created_at)).toBe(1)
  expect(await since(created_at.replace('Z', '000000Z'))).toBe(1)
  expect(await since(created_at.replace('Z', '000001Z'))).toBe(0)
})
