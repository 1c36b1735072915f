import type { StorePorts } from '../ports.ts'
import { dynamoClient, type ServiceOptions, s3Client } from './clients.ts'
import { S3Objects } from './objects.ts'
import { DynamoRunIndex, type OnStaleCard } from './run-index.ts'
import { ensureTable } from './table.ts'
import { DynamoTokenIndex } from './tokens.ts'
import { DynamoUploadIndex } from './upload-index.ts'
import { S3Uploads } from './uploads.ts'

export type { ServiceOptions } from './clients.ts'
export { tableDefinition } from './table.ts'
export { awsTariff } from './tariff.ts'

export interface AwsOptions {
  readonly bucket: string
  readonly table: string
  /** Put before every object key. */
  readonly prefix?: string
  readonly s3?: ServiceOptions
  readonly dynamodb?: ServiceOptions
  /** Whether the bucket's service keeps checksums over whole objects. @default true */
  readonly fullChecksums?: boolean
  readonly onStaleCard?: OnStaleCard
}

export interface AwsPorts extends StorePorts {
  /** Makes the table where a local store has none. */
  ensureTable(): Promise<void>
  /** Ends the connections. */
  close(): void
}

/** The store on S3 and DynamoDB. */
export function awsPorts(options: AwsOptions): AwsPorts {
  const { bucket, table, prefix = '', fullChecksums = true } = options
  const s3 = s3Client(options.s3)
  const plainS3 = s3Client(options.s3, { requestChecksumCalculation: 'WHEN_REQUIRED' })
  const dynamo = dynamoClient(options.dynamodb)
  return {
    objects: new S3Objects({ client: s3, bucket, prefix, fullChecksums }),
    index: new DynamoRunIndex(dynamo, table, options.onStaleCard),
    tokens: new DynamoTokenIndex(dynamo, table),
    uploads: new S3Uploads({ client: plainS3, bucket, prefix }),
    uploadIndex: new DynamoUploadIndex(dynamo, table),
    ensureTable: () => ensureTable(dynamo, table),
    close: () => {
      s3.destroy()
      plainS3.destroy()
      dynamo.destroy()
    },
  }
}
