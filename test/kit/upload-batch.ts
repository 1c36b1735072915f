import type { UploadAnswer, UploadRequest } from '#schema'
import { putPart } from './put-part.ts'
import { type StoredRun, sha256 } from './stored-run.ts'

/** Opens an upload of the bytes at the run's tail and PUTs all parts. */
export async function uploadParts(run: StoredRun, bytes: Uint8Array, more: Partial<UploadRequest> = {}) {
  const request = { epoch: run.epoch, offset: run.tail, length: bytes.length, sha256: sha256(bytes), ...more }
  const opened: UploadAnswer = await run.archive.openUpload(run.key, request)
  const parts = await Promise.all(
    opened.parts.map(async ({ part_number, url, start, end }) => {
      const { etag } = await putPart(run.archive.ports, url, bytes.subarray(start, end))
      return { part_number, etag }
    }),
  )
  const complete = () => run.archive.completeUpload(run.key, opened.upload_id, { parts })
  const abort = () => run.archive.abortUpload(run.key, opened.upload_id)
  return { opened, parts, complete, abort }
}
