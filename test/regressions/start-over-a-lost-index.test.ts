import { rm } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createArchive, rebuild, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { LOCAL_LIMITS } from '../../functions/api/limits.ts'
import { createLog } from '../../functions/api/log.ts'
import { nodePlatform } from '../../functions/api/platform.ts'
import { type Running, startServer } from '../../functions/api/start-server.ts'
import { readServerEnv } from '../../functions/env.ts'
import { PREAMBLE } from '../functions/api/api-kit.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'

// With `index.sqlite` gone, `npm start` made an empty one without a word. Daemons took their leases again at epoch 1, a
// later `runfold rebuild` left those runs as the new index knew them, and an hour on the sweep removed what was there before.

const run = { tenant: 'default', run_id: 'a' }
const owner = { machine_id: 'm', world_id: 'w' }
let running: Running | undefined
afterEach(async () => {
  await running?.stop()
  running = undefined
})

async function start(data: string) {
  const env = readServerEnv({ PORT: '0', RUNFOLD_DATA: data })
  running = await startServer(
    nodePlatform,
    env,
    createLog(false, () => {}),
  )
}

/** A store on which `act` is done; then its index is lost. */
async function indexLostAfter(act: (archive: ReturnType<typeof createArchive>) => Promise<unknown>) {
  const data = temporaryFolder()
  const { ports, close } = await openLocalStore(data)
  await act(createArchive(ports, { clock: systemClock, limits: LOCAL_LIMITS }))
  close()
  for (const end of ['', '-wal', '-shm']) await rm(path.join(data, `index.sqlite${end}`), { force: true })
  return data
}

it('no server starts over runs whose index is lost, until it is rebuilt', async () => {
  const data = await indexLostAfter(async (archive) => {
    await archive.acquire(run, owner)
    await archive.append(run, { epoch: 1, offset: 0, bytes: PREAMBLE })
  })
  await expect(start(data)).rejects.toThrow('runfold rebuild')

  const { ports, close } = await openLocalStore(data)
  for await (const { outcome } of rebuild(ports, systemClock)) expect(outcome).toBe('rebuilt')
  close()
  await expect(start(data)).resolves.toBeUndefined()
})

it('a server starts over a run of which nothing was committed but its name', async () => {
  const data = await indexLostAfter((archive) => archive.acquire(run, owner))
  await expect(start(data)).resolves.toBeUndefined()
})
