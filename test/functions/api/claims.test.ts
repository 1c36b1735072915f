import { expect, it } from 'vitest'
import { header, join, owner, PREAMBLE, testApi } from './api-kit.ts'

const claimant = { machine_id: 'm-2', world_id: 'w-2', capabilities: [] }

async function apiWithWaiting(...runs: string[]) {
  const api = await testApi({ features: ['claims'] })
  for (const run of runs) {
    const { epoch } = (await api.root.post(`/v1/runs/${run}/lease`, owner)).json
    await api.root.append(run, 0, epoch, join(PREAMBLE, header(run)))
    await api.root.delete(`/v1/runs/${run}/lease?epoch=${epoch}`)
  }
  return api
}

it('a claim is answered with a lease, or with nothing', async () => {
  const { root, clock } = await apiWithWaiting('a')
  const got = await root.post('/v1/claims', claimant)
  expect(got.status).toBe(200)
  expect(got.json).toMatchObject({ run_id: 'a', epoch: 2, frames: 1, previous: owner })
  const before = clock.now()
  const none = await root.post('/v1/claims', { ...claimant, wait_s: 3 })
  expect([none.status, none.text, clock.now() - before]).toEqual([204, '', 3000])
})

it('a claim needs both scopes, append and resume', async () => {
  const { withScopes } = await apiWithWaiting('a')
  for (const scope of ['append', 'resume'] as const) {
    expect((await (await withScopes(scope)).post('/v1/claims', claimant)).status).toBe(403)
  }
  expect((await (await withScopes('append', 'resume')).post('/v1/claims', claimant)).status).toBe(200)
})

it('a token claims within its tenant and prefix', async () => {
  const { as, token } = await apiWithWaiting('a-1', 'b-1')
  const other = as((await token(['append', 'resume'], { tenant: 'other' })).token)
  expect((await other.post('/v1/claims', claimant)).status).toBe(204)
  const bound = as((await token(['append', 'resume'], { run_prefix: 'b-' })).token)
  expect((await bound.post('/v1/claims', claimant)).json.run_id).toBe('b-1')
  expect((await bound.post('/v1/claims', claimant)).status).toBe(204)
})

it('a server without the feature has no such route', async () => {
  const { root } = await testApi()
  expect((await root.post('/v1/claims', claimant)).status).toBe(404)
})
