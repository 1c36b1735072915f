import { expect, it } from 'vitest'
import { createArchive, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { LOCAL_LIMITS } from '../../functions/api/limits.ts'
import { owner, testApi } from '../functions/api/api-kit.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'

// A lease whose `requires` held "\ud800" was granted. SQLite kept it as JSON that our own reader refuses, so nothing could
// be done with the run any more, not even delete it, and every claim of its tenant and every round of maintenance met it
// and failed. In DynamoDB the text became U+FFFD, which nobody who can do "\ud800" can do.

it('a text of a request that cannot be stored is refused, and the tenant goes on claiming', async () => {
  const { ports, close } = await openLocalStore(temporaryFolder())
  const archive = createArchive(ports, { clock: systemClock, limits: LOCAL_LIMITS })
  try {
    const { root } = await testApi({ features: ['claims'], archive })
    const text = 'needs \ud800'
    const lease = await root.post('/v1/runs/r/lease', { ...owner, requires: ['x', text] })
    expect([lease.status, lease.json]).toMatchObject([400, { issues: [{ path: 'requires.1' }] }])
    expect((await root.post('/v1/tokens', { name: text, scopes: ['read'] })).status).toBe(400)
    expect((await root.post('/v1/claims', { ...owner, capabilities: [text] })).status).toBe(400)
    await root.post('/v1/runs/r/lease', owner)
    await root.delete('/v1/runs/r/lease?epoch=1')
    const other = { machine_id: 'm-2', world_id: 'w-2', capabilities: [] }
    expect((await root.post('/v1/claims', other)).json).toMatchObject({ run_id: 'r' })
  } finally {
    close()
  }
})
