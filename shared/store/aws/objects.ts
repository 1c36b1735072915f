import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { LVR1_MEDIA_TYPE, RunfoldError } from '../../schema/index.ts'
import type { ByteRange, ComposePart, ObjectFacts, Objects, StoredObject, TaggedBytes } from '../ports.ts'
import { release } from '../release.ts'
import { factsOf, metadataOf } from './facts.ts'
import { inParallel } from './in-parallel.ts'
import { type Bucket, goneSource, uploadParts } from './multipart.ts'
import { lengthOf, planParts } from './part-plan.ts'
import { asking, isNamed } from './sdk-error.ts'
import type { PartsLog } from './while-open.ts'

/** S3 deletes at most so many keys by one request. */
const DELETE_BATCH = 1000
/** Reads of one body; the SDK repeats a request, never a body that breaks off. */
const BODY_TRIES = 4
const READ_WIDTH = 8

export interface S3ObjectsOptions {
  readonly client: S3Client
  readonly bucket: string
  /** Put before every key, so that a bucket can be shared. */
  readonly prefix?: string
  /** @default true; off for stores that know no full-object checksums */
  readonly fullChecksums?: boolean
  /** Where objects of several parts are written down while they are stored. */
  readonly open: PartsLog
}

/** Objects in one S3 bucket, or in any store that speaks its language. */
export class S3Objects implements Required<Objects> {
  readonly #client: S3Client
  readonly #prefix: string
  readonly #bucket: Bucket

  constructor({ client, bucket, prefix = '', fullChecksums = true, open }: S3ObjectsOptions) {
    this.#client = client
    this.#prefix = prefix
    this.#bucket = {
      client,
      name: bucket,
      prefix,
      open,
      fullChecksums,
      gather: (pieces) => this.#gather(pieces),
      lengthOf: async (key) => (await this.#look(key))?.length,
    }
  }

  put(key: string, chunks: readonly Uint8Array[], facts: ObjectFacts): Promise<void> {
    return this.compose(
      key,
      chunks.map((bytes) => ({ bytes })),
      facts,
    )
  }

  async compose(key: string, parts: readonly ComposePart[], facts: ObjectFacts): Promise<void> {
    const plan = planParts(parts)
    const [first, ...more] = plan
    // What fits one upload part is cheaper as one request than as an upload of three.
    if (more.length === 0 && (first === undefined || 'pack' in first)) {
      await this.#putWhole(this.#prefix + key, await this.#gather(first?.pack ?? []), facts)
    } else await uploadParts(this.#bucket, key, plan, facts)
  }

  async #putWhole(key: string, bytes: Uint8Array, facts: ObjectFacts): Promise<void> {
    const body = { Body: bytes, ContentLength: bytes.length, Metadata: metadataOf(facts) }
    await asking('storing an object', () =>
      this.#client.send(new PutObjectCommand({ Bucket: this.#bucket.name, Key: key, ...body })),
    )
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    return this.#read(this.#prefix + key, range)
  }

  async #read(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    if (range !== undefined && range.end <= range.start) {
      return (await this.#look(key)) && new Uint8Array(0)
    }
    for (let tries = 1; ; tries++) {
      const body = await asking('reading an object', () => this.#open(key, range))
      if (body === undefined) return undefined
      const read = range
        ? filled(body as unknown as AsyncIterable<Uint8Array>, range)
        : body.transformToByteArray()
      const bytes = await read.catch((cause: unknown) => {
        if (cause instanceof RunfoldError) throw cause
        if (tries < BODY_TRIES) return undefined
        throw brokenOff(cause)
      })
      if (bytes !== undefined) return checkedLength(bytes, range)
    }
  }

  /** Length and tag come from the answer that has the bytes; an empty range, which S3 knows not, is a look. */
  async tagged(key: string, range: ByteRange): Promise<TaggedBytes | undefined> {
    const full = this.#prefix + key
    const seen = range.end <= range.start ? await this.#look(full) : await this.#begin(full, range)
    if (seen !== undefined && 'bytes' in seen) return seen
    const found = seen ?? (await this.#look(full)) // a range that begins past the end is answered by no object at all
    return found && { bytes: new Uint8Array(0), etag: found.etag, length: found.length }
  }

  async #begin(key: string, { start, end }: ByteRange): Promise<TaggedBytes | undefined> {
    for (let tries = 1; ; tries++) {
      const answer = await asking('reading an object', () => this.#answer(key, `bytes=${start}-${end - 1}`))
      if (!answer) return undefined
      const bytes = await answer.Body?.transformToByteArray().catch(() => undefined)
      const length = Number(answer.ContentRange?.split('/')[1] ?? answer.ContentLength)
      if (bytes) return { bytes, etag: answer.ETag ?? '', length }
      if (tries === BODY_TRIES) throw brokenOff()
    }
  }

  /** Undefined where there is no such object, or no byte of the range in it. */
  async #answer(key: string, Range: string) {
    try {
      return await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket.name, Key: key, Range }))
    } catch (error) {
      if (isNamed(error, 'NoSuchKey', 'NotFound', 'InvalidRange')) return undefined
      throw error
    }
  }

  async #open(key: string, range: ByteRange | undefined) {
    const at = { Bucket: this.#bucket.name, Key: key }
    const part = range && { Range: `bytes=${range.start}-${range.end - 1}` }
    try {
      const { Body } = await this.#client.send(new GetObjectCommand({ ...at, ...part }))
      return Body
    } catch (error) {
      if (isNamed(error, 'NoSuchKey', 'NotFound')) return undefined
      if (isNamed(error, 'InvalidRange')) throw otherLength(0, range)
      throw error
    }
  }

  async #gather(pieces: readonly ComposePart[]): Promise<Uint8Array> {
    const [only] = pieces
    if (pieces.length === 1 && only && 'bytes' in only) return only.bytes
    let end = 0
    const places = pieces.map((piece) => {
      const start = end
      end += lengthOf(piece)
      return { piece, start }
    })
    const joined = new Uint8Array(end)
    await inParallel(READ_WIDTH, places, async ({ piece, start }) => {
      const bytes = 'copy' in piece ? await this.get(piece.copy, piece.range) : piece.bytes
      if (bytes === undefined) throw goneSource()
      joined.set(bytes, start)
    })
    return joined
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += DELETE_BATCH) {
      const Objects = keys.slice(at, at + DELETE_BATCH).map((key) => ({ Key: this.#prefix + key }))
      const { Errors } = await asking('removing objects', () =>
        this.#client.send(
          new DeleteObjectsCommand({ Bucket: this.#bucket.name, Delete: { Objects, Quiet: true } }),
        ),
      )
      const failed = Errors?.find(({ Code }) => Code !== 'NoSuchKey')
      if (failed)
        throw new RunfoldError('unavailable', `removing objects: ${failed.Code}`, { retry_after_s: 1 })
    }
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#bucket.name, Prefix: this.#prefix + prefix },
    )
    for (;;) {
      const { value: page, done } = await asking('listing objects', () => pages.next())
      if (done) return
      for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
        yield { key: Key.slice(this.#prefix.length), length: Size, stored_at: LastModified?.getTime() ?? 0 }
      }
    }
  }

  async facts(key: string): Promise<ObjectFacts | undefined> {
    return (await this.#look(this.#prefix + key))?.facts
  }

  async url(key: string, fileName: string, seconds: number): Promise<string> {
    const at = { Bucket: this.#bucket.name, Key: this.#prefix + key }
    const shown = {
      ResponseContentType: LVR1_MEDIA_TYPE,
      ResponseContentDisposition: `attachment; filename="${fileName}"`,
      ResponseCacheControl: 'no-store',
    }
    const request = new GetObjectCommand({ ...at, ...shown })
    return asking('signing a URL', () => getSignedUrl(this.#client, request, { expiresIn: seconds }))
  }

  async #look(key: string): Promise<{ length: number; etag: string; facts: ObjectFacts } | undefined> {
    return asking('looking at an object', async () => {
      try {
        const {
          ContentLength = 0,
          ETag = '',
          Metadata,
        } = await this.#client.send(new HeadObjectCommand({ Bucket: this.#bucket.name, Key: key }))
        return { length: ContentLength, etag: ETag, facts: factsOf(Metadata) }
      } catch (error) {
        if (isNamed(error, 'NotFound', 'NoSuchKey')) return undefined
        throw error
      }
    })
  }
}

const brokenOff = (cause?: unknown) =>
  new RunfoldError('unavailable', 'an object broke off while it was read', { retry_after_s: 1 }, { cause })

/** Into memory of exactly the length asked for: a large frame is held once, and not in pieces beside it. */
async function filled(body: AsyncIterable<Uint8Array>, { start, end }: ByteRange): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start)
  let length = 0
  for await (const chunk of body) {
    if (length + chunk.length > bytes.length) throw otherLength(length + chunk.length, { start, end })
    bytes.set(chunk, length)
    length += chunk.length
    release(chunk) // or as many bytes again wait for the collector
  }
  return bytes.subarray(0, length)
}

/** An object is immutable, so one that ends before the range does is damaged and no repeat helps (P7). */
function otherLength(found: number, range: ByteRange | undefined): RunfoldError {
  const asked = range ? `bytes ${range.start} to ${range.end}` : 'it'
  return new RunfoldError('internal', `${asked} of an object were asked for, ${found} bytes were found`)
}

function checkedLength(bytes: Uint8Array, range: ByteRange | undefined): Uint8Array {
  if (range && bytes.length !== range.end - range.start) throw otherLength(bytes.length, range)
  return bytes
}
