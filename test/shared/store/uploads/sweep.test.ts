import { describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, type StorePorts } from '#store'
import { joined, type StoredRun, say, sha256 } from '../../../kit/stored-run.ts'
import { uploadParts } from '../../../kit/upload-batch.ts'
import { big, digestOf, everyKey, HOUR, started } from './kit.ts'

/** Without what is derived. */
const archiveKeys = async (ports: StorePorts) =>
  (await everyKey(ports, 'runs/')).filter((key) => /\/\d+-\d+-\d+-\w+$/.test(key))

describe('a sweep meanwhile', () => {
  const raise = async (ports: StorePorts, run: StoredRun) => {
    const head = await ports.index.head(run.key)
    await ports.index.commit(run.key, {}, { set: { sweep: (head?.sweep ?? 0) + 1 } })
  }

  it('makes the completion store its object again under the new generation', async () => {
    const { run, ports } = await started()
    const batch = big(100)
    const upload = await uploadParts(run, batch)
    await raise(ports, run)
    expect(await upload.complete()).toMatchObject({ replayed: false })
    const extents = Object.values((await ports.index.head(run.key))?.extents ?? {})
    expect(extents.at(-1)).toMatchObject({ sweep: 1, length: batch.length })
    expect(await digestOf(run)).toBe(sha256(joined(run.bytes, batch)))
  })

  it('that removed the object ends the upload, and never the archive', async () => {
    const { run, ports, archive } = await started()
    const upload = await uploadParts(run, big(100))
    const [record] = await ports.uploadIndex.ofRun(run.key)
    const complete = ports.uploads.complete
    const stalled: StorePorts = {
      ...ports,
      uploads: {
        ...ports.uploads,
        complete: async (place, parts) => {
          await complete(place, parts)
          await raise(ports, run)
          await ports.objects.remove([record?.key ?? ''])
        },
      },
    }
    const { clock, limits } = archive
    const slow = createArchive(stalled, { clock, limits })
    const late = slow.completeUpload(run.key, upload.opened.upload_id, { parts: upload.parts })
    await expect(late).rejects.toMatchObject({ code: 'not_found' })
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('takes away what was refused, and nothing that is named', async () => {
    const { run, ports, clock } = await started()
    const batch = big(100)
    await (await uploadParts(run, batch)).complete()
    run.bytes = joined(run.bytes, batch)
    const torn = await uploadParts(run, say('a').subarray(0, -1))
    await expect(torn.complete()).rejects.toMatchObject({ code: 'bad_frames' })
    expect(await archiveKeys(ports)).toHaveLength(3)
    clock.advance(2 * HOUR)
    const { pass } = createMaintainer(ports, clock)
    await pass()
    clock.advance(2 * HOUR)
    await pass()
    expect(await archiveKeys(ports)).toHaveLength(1)
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })
})
