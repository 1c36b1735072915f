import type { Objects, Uploads } from '../ports.ts'
import { S3Objects } from './objects.ts'
import { s3Client } from './s3-client.ts'
import type { ServiceOptions } from './service.ts'
import { S3Uploads } from './uploads.ts'
import type { PartsLog } from './while-open.ts'

export interface S3Options {
  readonly bucket: string
  /** Put before every object key. */
  readonly prefix?: string
  readonly s3?: ServiceOptions
  /** Whether the bucket's service keeps checksums over whole objects. @default true */
  readonly fullChecksums?: boolean
}

/** The ports that stand on S3. */
export interface S3Ports {
  readonly objects: Required<Objects>
  readonly uploads: Uploads
  /** Ends the connections. */
  close(): void
}

export function s3Ports(
  { bucket, prefix = '', s3 = {}, fullChecksums = true }: S3Options,
  open: PartsLog,
): S3Ports {
  const client = s3Client(s3)
  const plain = s3Client(s3, { requestChecksumCalculation: 'WHEN_REQUIRED' })
  return {
    objects: new S3Objects({ client, bucket, prefix, fullChecksums, open }),
    uploads: new S3Uploads({ client: plain, bucket, prefix }),
    close: () => {
      client.destroy()
      plain.destroy()
    },
  }
}
