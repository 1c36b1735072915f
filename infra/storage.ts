import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import * as s3 from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { acknowledge, findingOfObjects } from './acknowledge.ts'
import { tableIndexes, tableKeys } from './table-shape.ts'

/** Where all objects of archives and of sessions lie (`shared/store/keys.ts`). */
const PREFIXES = ['runs/*', 'sessions/*']

interface StorageProps {
  /** Where the bucket of this stack writes its access log. */
  readonly accessLogs: s3.IBucket
  /** @default a bucket of this stack, kept when the stack goes */
  readonly bucket?: s3.IBucket
  /** @default keys of the services */
  readonly key?: IKey
  /** @default true */
  readonly pointInTimeRecovery?: boolean
  /** @default never */
  readonly infrequentAfter?: Duration
}

/** Where archives are kept: objects in one bucket; heads, cards and tokens in one table. Both outlive the stack. */
export class Storage extends Construct {
  readonly bucket: s3.IBucket
  readonly table: dynamodb.Table
  readonly #key: IKey | undefined

  constructor(scope: Construct, id: string, props: StorageProps) {
    super(scope, id)
    this.#key = props.key
    this.bucket = props.bucket ?? this.#makeBucket(props)
    this.table = this.#makeTable(props.pointInTimeRecovery ?? true)
  }

  /** Tells a function where archives are and lets it read and write them, and nothing else. */
  connect(fn: LambdaFunction): void {
    fn.addEnvironment('RUNFOLD_STORE', 'aws')
    fn.addEnvironment('RUNFOLD_BUCKET', this.bucket.bucketName)
    fn.addEnvironment('RUNFOLD_TABLE', this.table.tableName)
    fn.addToRolePolicy(
      new PolicyStatement({
        sid: 'Objects',
        actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload'],
        resources: PREFIXES.map((prefix) => this.bucket.arnForObjects(prefix)),
      }),
    )
    // Without it S3 answers 403 for an object that is not there, and absence could not be told from a missing right.
    fn.addToRolePolicy(
      new PolicyStatement({ sid: 'Absence', actions: ['s3:ListBucket'], resources: [this.bucket.bucketArn] }),
    )
    fn.addToRolePolicy(
      new PolicyStatement({
        sid: 'Items',
        actions: [
          'GetItem',
          'BatchGetItem',
          'PutItem',
          'UpdateItem',
          'DeleteItem',
          'BatchWriteItem',
          'Query',
          'Scan',
        ].map((name) => `dynamodb:${name}`),
        resources: [this.table.tableArn],
      }),
    )
    fn.addToRolePolicy(
      new PolicyStatement({
        sid: 'Indexes',
        actions: ['dynamodb:Query'],
        resources: tableIndexes.map(({ indexName }) => `${this.table.tableArn}/index/${indexName}`),
      }),
    )
    for (const prefix of PREFIXES) {
      const reason = 'archives are objects under a prefix'
      if (fn.role) acknowledge(fn.role, { [findingOfObjects(this.bucket, prefix)]: reason })
    }
    if (!this.#key) return
    fn.addToRolePolicy(
      new PolicyStatement({
        sid: 'Key',
        actions: ['kms:Encrypt', 'kms:Decrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'],
        resources: [this.#key.keyArn],
      }),
    )
  }

  #makeBucket({ accessLogs, infrequentAfter }: StorageProps): s3.IBucket {
    return new s3.Bucket(this, 'Archives', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: false, // an object is never overwritten with other bytes; the sweep deletes for good
      removalPolicy: RemovalPolicy.RETAIN,
      serverAccessLogsBucket: accessLogs,
      serverAccessLogsPrefix: 'archives/',
      ...(this.#key
        ? { encryption: s3.BucketEncryption.KMS, encryptionKey: this.#key, bucketKeyEnabled: true }
        : { encryption: s3.BucketEncryption.S3_MANAGED }),
      lifecycleRules: [
        { id: 'abort-stale-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        ...(infrequentAfter
          ? [
              {
                id: 'infrequent-access',
                objectSizeGreaterThan: 128 << 10, // smaller ones are billed as 128 KiB there
                transitions: [
                  { storageClass: s3.StorageClass.INFREQUENT_ACCESS, transitionAfter: infrequentAfter },
                ],
              },
            ]
          : []),
      ],
    }) as s3.IBucket
  }

  #makeTable(pointInTimeRecoveryEnabled: boolean): dynamodb.Table {
    const table = new dynamodb.Table(this, 'Index', {
      ...tableKeys,
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      ...(this.#key && { encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED, encryptionKey: this.#key }),
    })
    for (const index of tableIndexes) table.addGlobalSecondaryIndex(index)
    return table
  }
}
