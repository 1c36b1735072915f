import { systemClock } from '../clock.ts'
import type { StorePorts } from '../ports.ts'
import { dynamoClient } from './dynamo-client.ts'
import { lazyS3 } from './lazy-s3.ts'
import { DynamoRunIndex, type OnStaleCard } from './run-index.ts'
import type { S3Options } from './s3.ts'
import type { ServiceOptions } from './service.ts'
import { invoke, readSecret } from './services.ts'
import { DynamoSessionIndex } from './session-index.ts'
import { ensureTable } from './table.ts'
import { DynamoTokenIndex } from './tokens.ts'
import { DynamoUploadIndex } from './upload-index.ts'

export type { ServiceOptions } from './service.ts'
export { tableDefinition } from './table.ts'
export { awsTariff } from './tariff.ts'

export interface AwsOptions extends S3Options {
  readonly table: string
  readonly dynamodb?: ServiceOptions
  readonly onStaleCard?: OnStaleCard
}

export interface AwsPorts extends StorePorts {
  /** Makes the table where a local store has none. */
  ensureTable(): Promise<void>
  /** Has a Lambda function run on the event, without waiting for what it does. */
  invoke(functionName: string, event: unknown): Promise<void>
  /** The text that Secrets Manager keeps under an ARN. */
  readSecret(arn: string): Promise<string>
  /** Ends the connections. */
  close(): void
}

/** The store on S3 and DynamoDB. */
export function awsPorts(options: AwsOptions): AwsPorts {
  const { table } = options
  const dynamo = dynamoClient(options.dynamodb)
  const uploadIndex = new DynamoUploadIndex(dynamo, table)
  const s3 = lazyS3(options, { index: uploadIndex, clock: systemClock })
  return {
    objects: s3.objects,
    index: new DynamoRunIndex(dynamo, table, options.onStaleCard),
    tokens: new DynamoTokenIndex(dynamo, table),
    uploads: s3.uploads,
    uploadIndex,
    sessions: new DynamoSessionIndex(dynamo, table),
    ensureTable: () => ensureTable(dynamo, table),
    invoke: (name, event) => invoke(dynamo, name, event),
    readSecret: (arn) => readSecret(dynamo, arn),
    close: () => {
      s3.close()
      dynamo.destroy()
    },
  }
}
