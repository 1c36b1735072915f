import { describe, expect, it } from 'vitest'
import { isIndexLost } from '#store'
import { memoryPorts } from '#store/memory'
import { createIndexCheck } from '../../../functions/api/index-check.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { StoredRun, say, testArchive } from '../../kit/stored-run.ts'

describe('a process that begins', () => {
  it('lets no request in where the archives of others are stored and the index is new', async () => {
    const old = testArchive()
    const run = await StoredRun.begin(old.archive)
    await run.append(say('stored'))
    const fresh = memoryPorts(manualClock())
    let index = fresh.index
    const check = createIndexCheck(() => isIndexLost({ ...old.ports, index }))
    await expect(check()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(check()).rejects.toThrow('runfold rebuild')
    index = old.ports.index // restored
    await check()
  })

  it('looks once', async () => {
    let looks = 0
    const check = createIndexCheck(async () => ++looks > 1)
    for (let n = 0; n < 3; n++) await check()
    expect(looks).toBe(1)
  })
})
