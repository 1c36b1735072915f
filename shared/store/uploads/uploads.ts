import { loadDigest } from '../../codec/index.ts'
import type {
  AppendAnswer,
  CompleteRequest,
  RunKey,
  UploadAnswer,
  UploadRequest,
} from '../../schema/index.ts'
import { RunfoldError, UPLOAD_PARTS_MAX } from '../../schema/index.ts'
import { type Addition, commitAddition, factsOf, judgeRoom, judgeWriter, writerFacts } from '../commit.ts'
import { living, serverTime } from '../head.ts'
import { objectKey, uploadHash } from '../keys.ts'
import type { StoreParts } from '../parts.ts'
import type { StoredPart, UploadRecord } from '../ports.ts'
import type { ArchiveView } from '../reading/view.ts'
import { extended } from '../replay.ts'
import { type Checked, checkUpload } from './check.ts'
import { randomHex } from './own-uploads.ts'

// DESIGN.md, "Direct upload": the bytes of a large batch go to the storage by signed URLs; then the batch is judged,
// checked and committed as if it had come with the request.

const MiB = 1024 * 1024
/** Parts no smaller than S3 wants them, and few enough of them. */
const PART_BYTES = 5 * MiB
/** API.md: URLs live 15 minutes at most. */
const URL_S = 900
/** How long an upload may stay incomplete, and a completion be repeated. */
const UPLOAD_MS = 86_400_000

export async function openUpload(
  { ports, clock, limits }: StoreParts,
  run: RunKey,
  request: UploadRequest,
): Promise<UploadAnswer> {
  const { epoch, offset, length, sha256 } = request
  const part_bytes = partBytes(length)
  if (part_bytes > ports.uploads.maxPartBytes) {
    const max_upload_bytes = UPLOAD_PARTS_MAX * ports.uploads.maxPartBytes
    throw new RunfoldError('too_large', `a batch of ${length} bytes`, { ...limits, max_upload_bytes })
  }
  const head = living(await ports.index.head(run))
  judgeWriter(head, head.life, epoch)
  judgeRoom(head, offset)

  const upload_id = randomHex()
  const { life, sweep } = head
  const key = objectKey(run, offset, { length, hash: uploadHash(upload_id), sweep })
  const facts = { ...(offset === head.tail ? factsOf : writerFacts)(head, offset), sha256 }
  const storage_id = await ports.uploads.open(key, facts)
  const opened_at = clock.now()
  const times = { opened_at, expires_at: opened_at + UPLOAD_MS }
  const record = {
    upload_id,
    run,
    life,
    epoch,
    offset,
    length,
    sha256,
    sweep,
    key,
    storage_id,
    part_bytes,
    ...times,
  }
  try {
    await ports.uploadIndex.put(record)
  } catch (error) {
    await ports.uploads.abort(record).catch(() => {})
    throw error
  }
  const parts = partsOf(record).map(async ({ part_number, start, end }) => {
    const url = await ports.uploads.partUrl(record, { part_number, length: end - start }, URL_S)
    return { part_number, url, start, end }
  })
  const expires_at = serverTime(opened_at + URL_S * 1000)
  return { upload_id, part_bytes, parts: await Promise.all(parts), expires_at }
}

/** May be repeated: what was done is found by the head, the archive's bytes and the announced digest. */
export async function completeUpload(
  parts: StoreParts,
  run: RunKey,
  upload_id: string,
  request: CompleteRequest,
): Promise<AppendAnswer> {
  const { index, uploads, uploadIndex } = parts.ports
  const upload = await uploadIndex.get(run, upload_id)
  if (!upload) throw new RunfoldError('not_found', 'there is no such upload')
  const stored = checkedParts(upload, request)
  await loadDigest()
  const head = living(await index.head(run))
  judgeWriter(head, upload.life, upload.epoch)
  // Where the archive has gone past its end already, only the digest counts, and the object may be merged away.
  if (head.tail < upload.offset + upload.length) await uploads.complete(upload, stored)
  return commitAddition(parts, run, upload, additionOf(parts, run, upload))
}

/** Nothing is left of the upload, and it cannot be completed any more. What it has appended stays. */
export async function abortUpload({ ports }: StoreParts, run: RunKey, upload_id: string): Promise<void> {
  living(await ports.index.head(run))
  const upload = await ports.uploadIndex.get(run, upload_id)
  if (!upload) return
  await ports.uploads.abort(upload)
  await ports.uploadIndex.remove(run, upload_id)
}

function additionOf(parts: StoreParts, run: RunKey, upload: UploadRecord): Addition {
  const { offset, length, key, sha256 } = upload
  const end = offset + length
  const hash = uploadHash(upload.upload_id)
  let checked: Checked | undefined
  return {
    offset,
    end,
    hash,
    gain: async (head) => {
      if (checked?.tail !== head.tail) checked = await checkUpload(parts, run, head, upload)
      return checked.gain
    },
    store: async (head) => {
      if (head.sweep === upload.sweep) return
      const again = objectKey(run, offset, { length, hash, sweep: head.sweep })
      const copy = { copy: key, range: { start: 0, end: length } }
      await parts.ports.objects.compose(again, [copy], { ...factsOf(head, offset), sha256 })
    },
    isStored: async (view) => {
      const { tail } = view.head
      if (end <= tail) return (await digestOfRange(view, offset, end)) === sha256
      const { digestToTail } = await checkUpload(parts, run, view.head, upload)
      return digestToTail !== undefined && digestToTail === (await digestOfRange(view, offset, tail))
    },
  }
}

async function digestOfRange(view: ArchiveView, start: number, end: number): Promise<string> {
  let saved = extended(null, [])
  for await (const chunk of view.bytes(start, end)) saved = extended(saved.state, [chunk])
  return saved.digest
}

const partBytes = (length: number) => Math.max(PART_BYTES, Math.ceil(length / UPLOAD_PARTS_MAX / MiB) * MiB)

/** The ranges of the parts, relative to the batch. */
function partsOf({ length, part_bytes }: UploadRecord) {
  return Array.from({ length: Math.ceil(length / part_bytes) }, (_, n) => ({
    part_number: n + 1,
    start: n * part_bytes,
    end: Math.min(length, (n + 1) * part_bytes),
  }))
}

/** Every part, once and in order. */
function checkedParts(upload: UploadRecord, { parts }: CompleteRequest): readonly StoredPart[] {
  const wanted = partsOf(upload)
  const isInOrder = parts.every(({ part_number }, n) => part_number === n + 1)
  if (parts.length !== wanted.length || !isInOrder) {
    const message = `the parts must be 1 to ${wanted.length}, each once and in order`
    throw new RunfoldError('bad_request', message, { issues: [{ path: 'parts', message }] })
  }
  return wanted.map(({ part_number, start, end }, n) => {
    return { part_number, length: end - start, etag: (parts[n] as (typeof parts)[number]).etag }
  })
}
