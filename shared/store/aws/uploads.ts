import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { RunfoldError } from '../../schema/index.ts'
import type { ObjectFacts, StoredPart, UploadPlace, Uploads } from '../ports.ts'
import { noSuchPart } from '../uploads/own-uploads.ts'
import { metadataOf } from './facts.ts'
import { COPY_PART } from './part-plan.ts'
import { asking, isNamed, storageError } from './sdk-error.ts'

/** A part that was under way while its upload was aborted may stay behind, so an abort is repeated (S3's own advice). */
const ABORT_TRIES = 3

export interface S3UploadsOptions {
  /** Adds no checksum that nothing asks for: in a presigned URL it would be that of no bytes. */
  readonly client: S3Client
  readonly bucket: string
  readonly prefix: string
}

/** Direct uploads as S3 multipart uploads whose parts are PUT to presigned URLs. */
export class S3Uploads implements Uploads {
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string
  /** S3 takes parts of 5 GiB; like copied ones they stay well below. */
  readonly maxPartBytes = COPY_PART

  constructor({ client, bucket, prefix }: S3UploadsOptions) {
    this.#client = client
    this.#bucket = bucket
    this.#prefix = prefix
  }

  async open(key: string, facts: ObjectFacts): Promise<string> {
    const at = { Bucket: this.#bucket, Key: this.#prefix + key, Metadata: metadataOf(facts) }
    const { UploadId } = await asking('opening an upload', () =>
      this.#client.send(new CreateMultipartUploadCommand(at)),
    )
    if (UploadId !== undefined) return UploadId
    throw new RunfoldError('internal', 'the storage opened an upload without a name')
  }

  /** The length is signed with it, so that nobody stores more than was announced. */
  async partUrl(
    place: UploadPlace,
    { part_number, length }: Pick<StoredPart, 'part_number' | 'length'>,
    seconds: number,
  ): Promise<string> {
    const part = { ...this.#at(place), PartNumber: part_number, ContentLength: length }
    return asking('signing a URL', () =>
      getSignedUrl(this.#client, new UploadPartCommand(part), {
        expiresIn: seconds,
        signableHeaders: new Set(['host', 'content-length']),
      }),
    )
  }

  /**
   * Only one completion of an upload can happen, and the next finds no upload; then, as after a lost answer, the object
   * itself tells, for no other upload has its key.
   */
  async complete(place: UploadPlace, parts: readonly StoredPart[]): Promise<void> {
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const Parts = parts.map(({ part_number, etag }) => ({ PartNumber: part_number, ETag: quoted(etag) }))
    const request = { ...this.#at(place), MultipartUpload: { Parts }, MpuObjectSize: length }
    try {
      await this.#client.send(new CompleteMultipartUploadCommand(request))
    } catch (error) {
      if (await this.#stands(place.key)) return
      if (isNamed(error, 'InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'InvalidRequest'))
        throw noSuchPart()
      if (isNamed(error, 'NoSuchUpload')) throw new RunfoldError('not_found', 'there is no such upload')
      throw storageError('completing an upload', error)
    }
  }

  async abort(place: UploadPlace): Promise<void> {
    for (let tries = 0; tries < ABORT_TRIES; tries++) {
      const isGone = await asking('aborting an upload', () => this.#abortOnce(place))
      if (isGone) return
    }
  }

  async #abortOnce(place: UploadPlace): Promise<boolean> {
    try {
      await this.#client.send(new AbortMultipartUploadCommand(this.#at(place)))
      return false
    } catch (error) {
      if (isNamed(error, 'NoSuchUpload')) return true
      throw error
    }
  }

  async #stands(key: string): Promise<boolean> {
    return asking('looking at an object', async () => {
      try {
        await this.#client.send(new HeadObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key }))
        return true
      } catch (error) {
        if (isNamed(error, 'NotFound', 'NoSuchKey')) return false
        throw error
      }
    })
  }

  #at({ key, storage_id }: UploadPlace) {
    return { Bucket: this.#bucket, Key: this.#prefix + key, UploadId: storage_id }
  }
}

const quoted = (etag: string) => (etag.startsWith('"') ? etag : `"${etag}"`)
