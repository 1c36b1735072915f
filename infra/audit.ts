import { type Duration, RemovalPolicy } from 'aws-cdk-lib'
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnDeliveryStream } from 'aws-cdk-lib/aws-kinesisfirehose'
import { CfnSubscriptionFilter, type ILogGroup } from 'aws-cdk-lib/aws-logs'
import * as s3 from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { acknowledge, findingOfObjects } from './acknowledge.ts'

interface AuditProps {
  /** Of the API: lines with `audit` set are what is kept. */
  readonly logGroup: ILogGroup
  readonly accessLogs: s3.IBucket
  readonly keep: Duration
}

const PREFIXES = ['audit/*', 'undelivered/*']

/**
 * The audit trail: forced leases, raw reads, changes of tokens and deletions, taken out of the API's log into a bucket of
 * its own that no function can reach. The constructs of level 2 would grant `s3:GetObject*` and the like.
 */
export class Audit extends Construct {
  readonly bucket: s3.IBucket

  constructor(scope: Construct, id: string, { logGroup, accessLogs, keep }: AuditProps) {
    super(scope, id)
    this.bucket = new s3.Bucket(this, 'Trail', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN,
      serverAccessLogsBucket: accessLogs,
      serverAccessLogsPrefix: 'audit/',
      lifecycleRules: [{ id: 'expire', expiration: keep }],
    }) as s3.IBucket
    const stream = this.#makeStream()
    const forward = new Role(this, 'Forward', { assumedBy: new ServicePrincipal('logs.amazonaws.com') })
    forward.addToPolicy(
      new PolicyStatement({
        sid: 'Stream',
        actions: ['firehose:PutRecord', 'firehose:PutRecordBatch'],
        resources: [stream.attrArn],
      }),
    )
    const filter = new CfnSubscriptionFilter(this, 'Filter', {
      logGroupName: logGroup.logGroupName,
      filterPattern: '{ $.audit = "*" }',
      destinationArn: stream.attrArn,
      roleArn: forward.roleArn,
    })
    filter.node.addDependency(forward) // the right has to be there when the filter is tried
  }

  #makeStream(): CfnDeliveryStream {
    const deliver = new Role(this, 'Deliver', { assumedBy: new ServicePrincipal('firehose.amazonaws.com') })
    const stream = new CfnDeliveryStream(this, 'Stream', {
      deliveryStreamType: 'DirectPut',
      deliveryStreamEncryptionConfigurationInput: { keyType: 'AWS_OWNED_CMK' },
      extendedS3DestinationConfiguration: {
        bucketArn: this.bucket.bucketArn,
        roleArn: deliver.roleArn,
        prefix: 'audit/!{timestamp:yyyy/MM/dd}/',
        errorOutputPrefix: 'undelivered/!{firehose:error-output-type}/',
        bufferingHints: { intervalInSeconds: 300, sizeInMBs: 5 },
        compressionFormat: 'UNCOMPRESSED', // CloudWatch Logs has gzipped it
      },
    })
    const policy = this.#mayWrite(deliver)
    if (policy) stream.node.addDependency(policy)
    return stream
  }

  #mayWrite(role: IRole) {
    const added = role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: 'Trail',
        actions: ['s3:PutObject', 's3:AbortMultipartUpload'],
        resources: PREFIXES.map((prefix) => this.bucket.arnForObjects(prefix)),
      }),
    )
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: 'Place',
        actions: ['s3:GetBucketLocation', 's3:ListBucket', 's3:ListBucketMultipartUploads'],
        resources: [this.bucket.bucketArn],
      }),
    )
    for (const prefix of PREFIXES) {
      acknowledge(role, { [findingOfObjects(this.bucket, prefix)]: 'the trail is objects under a prefix' })
    }
    return added.policyDependable
  }
}
