import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { RunfoldError } from '../../schema/index.ts'
import type { ComposePart, ObjectFacts } from '../ports.ts'
import { metadataOf } from './facts.ts'
import { inParallel } from './in-parallel.ts'
import type { PlannedPart } from './part-plan.ts'
import { asking, isNamed, storageError } from './sdk-error.ts'
import { type PartsLog, whileOpen } from './while-open.ts'

/** Parts under way at once; with UPLOAD_PART it bounds what a compose holds in memory. */
const WIDTH = 4

/** The bucket as a multipart upload needs it. */
export interface Bucket {
  readonly client: S3Client
  readonly name: string
  /** Before every key. */
  readonly prefix: string
  readonly open: PartsLog
  /** Whether S3 is to keep a checksum over the whole object, also over copied parts. */
  readonly fullChecksums: boolean
  /** The bytes of the pieces, joined; throws `not_found` when a source is gone. */
  gather(pieces: readonly ComposePart[]): Promise<Uint8Array>
  /** Length of a stored object, by its full key. */
  lengthOf(key: string): Promise<number | undefined>
}

/** Stores the planned parts as one object, or nothing. The keys are without the bucket's prefix. */
export async function uploadParts(
  bucket: Bucket,
  key: string,
  plan: readonly PlannedPart[],
  facts: ObjectFacts,
) {
  const at = { Bucket: bucket.name, Key: bucket.prefix + key }
  const full = bucket.fullChecksums && ({ ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const)
  const { UploadId } = await asking('opening a multipart upload', () =>
    bucket.client.send(new CreateMultipartUploadCommand({ ...at, ...full, Metadata: metadataOf(facts) })),
  )
  if (UploadId === undefined)
    throw new RunfoldError('internal', 'the storage opened an upload without a name')
  const upload = { ...at, UploadId }
  const length = plan.reduce((sum, part) => sum + bytesOf(part), 0)
  try {
    await whileOpen(bucket.open, { key, storage_id: UploadId }, async (goesOn) => {
      const Parts = await inParallel(WIDTH, plan, async (part, index) => {
        const stored = await uploadPart(bucket, upload, part, index + 1)
        await goesOn()
        return stored
      })
      const body = { MultipartUpload: { Parts }, MpuObjectSize: length }
      await bucket.client.send(new CompleteMultipartUploadCommand({ ...upload, ...body }))
    })
  } catch (error) {
    await resolveFailure(bucket, upload, length, error)
  }
}

interface Upload {
  readonly Bucket: string
  readonly Key: string
  readonly UploadId: string
}

const bytesOf = (part: PlannedPart) => ('copy' in part ? part.range.end - part.range.start : part.length)

async function uploadPart(
  bucket: Bucket,
  upload: Upload,
  part: PlannedPart,
  n: number,
): Promise<CompletedPart> {
  const at = { ...upload, PartNumber: n }
  if ('pack' in part) {
    const body = { Body: await bucket.gather(part.pack), ContentLength: part.length }
    const { ETag, ChecksumCRC32 } = await bucket.client.send(
      new UploadPartCommand({ ...at, ...body, ChecksumAlgorithm: 'CRC32' }),
    )
    return { PartNumber: n, ETag, ...(bucket.fullChecksums && { ChecksumCRC32 }) }
  }
  const from = `${bucket.name}/${bucket.prefix}${part.copy}`
  const source = {
    CopySource: from.split('/').map(encodeURIComponent).join('/'),
    CopySourceRange: `bytes=${part.range.start}-${part.range.end - 1}`,
  }
  const { CopyPartResult } = await bucket.client.send(new UploadPartCopyCommand({ ...at, ...source }))
  const { ETag, ChecksumCRC32 } = CopyPartResult ?? {}
  return { PartNumber: n, ETag, ...(bucket.fullChecksums && { ChecksumCRC32 }) }
}

/**
 * A completion may have happened although its answer was lost, and answers a repeat with NoSuchUpload. A key is written
 * with one content only, so the object standing there at the full length settles it. Looked at again after the abort,
 * which cannot undo a completion and after which none can come.
 */
async function resolveFailure(bucket: Bucket, upload: Upload, length: number, cause: unknown): Promise<void> {
  const stands = () =>
    bucket.lengthOf(upload.Key).then(
      (found) => found === length,
      () => false,
    )
  if (await stands()) return
  await abort(bucket, upload)
  if (await stands()) return
  if (isNamed(cause, 'NoSuchKey')) throw goneSource({ cause })
  if (isNamed(cause, 'NoSuchUpload')) throw givenUp(cause)
  throw storageError('storing an object of several parts', cause)
}

/** This process slept so long that maintenance took it for dead; another try opens another upload. */
const givenUp = (cause: unknown) =>
  new RunfoldError('unavailable', 'an upload was aborted meanwhile', { retry_after_s: 1 }, { cause })

/** What a composition is made of was swept meanwhile; whoever asked for it plans again. */
export const goneSource = (options?: ErrorOptions) =>
  new RunfoldError('not_found', 'an object to copy from is gone', {}, options)

/** What this leaves behind is aborted by maintenance (while-open.ts). */
async function abort(bucket: Bucket, upload: Upload): Promise<void> {
  await bucket.client.send(new AbortMultipartUploadCommand(upload)).catch(() => {})
}
