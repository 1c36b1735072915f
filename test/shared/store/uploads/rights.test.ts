import { describe, expect, it } from 'vitest'
import { StoredRun, say, sha256 } from '../../../kit/stored-run.ts'
import { uploadParts } from '../../../kit/upload-batch.ts'
import { digestOf, everyKey, started } from './kit.ts'

describe('who may upload', () => {
  it('is judged when it is opened as for an append', async () => {
    const { run, archive } = await started()
    const open = (more: object) => uploadParts(run, say('a'), more)
    await expect(open({ epoch: 9 })).rejects.toMatchObject({ code: 'fenced', facts: { tail: run.tail } })
    await expect(open({ offset: run.tail + 1 })).rejects.toMatchObject({
      code: 'gap',
      facts: { tail: run.tail },
    })
    await expect(open({ length: 6 * 2 ** 40 })).rejects.toMatchObject({ code: 'too_large' })
    await archive.release(run.key, run.epoch)
    await expect(open({})).rejects.toMatchObject({ code: 'fenced' })
    await archive.remove(run.key, { force: true })
    await expect(open({})).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is judged again at its end, by the epoch it was opened with', async () => {
    const { run, archive, ports } = await started()
    const upload = await uploadParts(run, say('a'))
    await archive.acquire(run.key, { machine_id: 'other', world_id: 'w', force: true })
    await expect(upload.complete()).rejects.toMatchObject({ code: 'fenced', facts: { tail: run.tail } })
    expect(await everyKey(ports, 'uploads/')).not.toEqual([])
    await upload.abort()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
  })

  it('never reaches a run that was made again under the same id', async () => {
    const { run, archive } = await started()
    const upload = await uploadParts(run, say('a'))
    await archive.remove(run.key, { force: true })
    const next = await StoredRun.begin(archive)
    expect(next.epoch).toBeGreaterThan(run.epoch)
    await expect(upload.complete()).rejects.toMatchObject({ code: 'not_found' })
    expect(await digestOf(next)).toBe(sha256(new Uint8Array()))
  })

  it('is the run’s alone: another run or tenant has no such upload', async () => {
    const { run, archive } = await started()
    const { opened, parts, complete } = await uploadParts(run, say('a'))
    const other = await StoredRun.begin(archive, 'other')
    const tenant = { tenant: 'else', run_id: 'run' }
    await archive.acquire(tenant, run.owner)
    for (const key of [other.key, tenant]) {
      const elsewhere = archive.completeUpload(key, opened.upload_id, { parts })
      await expect(elsewhere).rejects.toMatchObject({ code: 'not_found' })
      await archive.abortUpload(key, opened.upload_id)
    }
    await complete()
  })
})
