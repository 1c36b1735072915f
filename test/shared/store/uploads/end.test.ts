import { describe, expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { createMaintainer } from '#store'
import { joined, StoredRun, say, sha256 } from '../../../kit/stored-run.ts'
import { uploadParts } from '../../../kit/upload-batch.ts'
import { big, DAY, digestOf, everyKey, MiB, started } from './kit.ts'

describe('the end of an upload', () => {
  it('is an abort, after which nothing is left and it cannot be completed', async () => {
    const { run, ports } = await started()
    const upload = await uploadParts(run, big(6 * MiB))
    await upload.abort()
    await upload.abort()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
    await expect(upload.complete()).rejects.toMatchObject({ code: 'not_found' })
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('is a day later, when maintenance forgets what was not completed', async () => {
    const { run, ports, clock } = await started()
    const upload = await uploadParts(run, big(6 * MiB))
    const { pass } = createMaintainer(ports, clock)
    clock.advance(DAY - 1)
    await pass()
    expect(await everyKey(ports, 'uploads/')).toHaveLength(3)
    clock.advance(1)
    await pass()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
    expect(await ports.uploadIndex.ofRun(run.key)).toEqual([])
    await expect(upload.complete()).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is the deletion of its run', async () => {
    const { run, ports, clock, archive } = await started()
    await uploadParts(run, big(6 * MiB))
    await archive.remove(run.key, { force: true })
    await createMaintainer(ports, clock).pass()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
    expect(await ports.uploadIndex.ofRun(run.key)).toEqual([])
  })

  it('is not the deletion of a former life, which maintenance may be about to clean up after', async () => {
    const { run, ports, clock, archive } = await started()
    await archive.remove(run.key, { force: true })
    const again: Awaited<ReturnType<typeof uploadParts>>[] = []
    const uploadIndex = {
      ...ports.uploadIndex,
      ofRun: async (key: typeof run.key) => {
        const next = await StoredRun.begin(archive)
        again.push(await uploadParts(next, joined(PREAMBLE, say('of the next life'))))
        return ports.uploadIndex.ofRun(key)
      },
    }
    await createMaintainer({ ...ports, uploadIndex }, clock).pass()
    expect(again).toHaveLength(1)
    expect(await again[0]?.complete()).toMatchObject({ frames: 1 })
  })

  it('is tried again by the next pass when the storage fails', async () => {
    const { run, ports, clock } = await started()
    await uploadParts(run, say('a'))
    clock.advance(2 * DAY)
    const uploads = { ...ports.uploads, abort: () => Promise.reject(new Error('broken')) }
    await expect(createMaintainer({ ...ports, uploads }, clock).pass()).rejects.toThrow()
    expect(await ports.uploadIndex.ofRun(run.key)).toHaveLength(1)
    await createMaintainer(ports, clock).pass()
    expect(await ports.uploadIndex.ofRun(run.key)).toEqual([])
  })
})
