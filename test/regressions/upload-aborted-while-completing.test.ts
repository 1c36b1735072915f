import { expect, it } from 'vitest'
import { putPart } from '../kit/put-part.ts'
import { testArchive } from '../kit/stored-run.ts'

// An upload was aborted between two looks of its completion: at the upload, which was there, and at its parts, which were
// not any more. The client was told that its ETag was wrong, and would have sent the part again.

it('a completion that an abort overtakes is told that the upload is gone', async () => {
  const { ports } = testArchive()
  const { uploads, objects } = ports
  const key = 'runs/default/run/object'
  const storage_id = await uploads.open(key, {})
  const bytes = new Uint8Array(8)
  const url = await uploads.partUrl({ key, storage_id }, { part_number: 1, length: bytes.length }, 60)
  const { etag } = await putPart(ports, url, bytes)

  const facts = objects.facts
  let looks = 0
  objects.facts = async (name) => {
    const found = await facts(name)
    if (looks++ === 0) await uploads.abort({ key, storage_id })
    return found
  }
  const parts = [{ part_number: 1, etag, length: bytes.length }]
  await expect(uploads.complete({ key, storage_id }, parts)).rejects.toMatchObject({ code: 'not_found' })
})
