// What the services give, as documented by Amazon and read in November 2026; a quota that can be raised says so. Nothing of
// this was measured on a real account.

export const QUOTAS_OF = '2026-11'

export interface Quota {
  /** In the unit that the name says. */
  readonly value: number
  readonly source: string
  readonly turn: string
}

const S3 = 'docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html'
const DYNAMO_PARTITION =
  'docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html'
const DYNAMO_QUOTAS = 'docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html'
const DYNAMO_WARM = 'docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html'
const LAMBDA = 'docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html'
const LAMBDA_SCALING = 'docs.aws.amazon.com/lambda/latest/dg/scaling-behavior.html'

export const QUOTAS = {
  s3_writes_per_prefix: {
    value: 3500,
    source: S3,
    turn: 'ask support to partition the prefix runs/ beforehand; by itself it splits within an hour',
  },
  s3_reads_per_prefix: { value: 5500, source: S3, turn: 'as for writes' },
  dynamodb_writes_new_table: {
    value: 4000,
    source: DYNAMO_WARM,
    turn: 'set the warm throughput of the table',
  },
  dynamodb_reads_new_table: {
    value: 12_000,
    source: DYNAMO_WARM,
    turn: 'set the warm throughput of the table',
  },
  dynamodb_writes_per_table: {
    value: 40_000,
    source: DYNAMO_QUOTAS,
    turn: 'raise the table-level quota of writes',
  },
  dynamodb_reads_per_table: {
    value: 40_000,
    source: DYNAMO_QUOTAS,
    turn: 'raise the table-level quota of reads',
  },
  dynamodb_writes_per_partition: {
    value: 1000,
    source: DYNAMO_PARTITION,
    turn: 'batch more in the daemon: one run is one item',
  },
  lambda_concurrency: { value: 1000, source: LAMBDA, turn: 'raise "Concurrent executions" of the account' },
  lambda_requests_per_process: {
    value: 10,
    source: LAMBDA,
    turn: 'raise "Concurrent executions"; the rate is ten times it',
  },
  lambda_starts_per_10_s: {
    value: 1000,
    source: LAMBDA_SCALING,
    turn: 'none; let daemons start over some seconds',
  },
} as const satisfies Record<string, Quota>

export type QuotaName = keyof typeof QUOTAS
