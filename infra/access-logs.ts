import { type Duration, RemovalPolicy } from 'aws-cdk-lib'
import * as s3 from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'

interface AccessLogsProps {
  readonly keep: Duration
}

/** Who asked the bucket and the distribution for what, kept for a while. */
export class AccessLogs extends Construct {
  readonly bucket: s3.IBucket

  constructor(scope: Construct, id: string, { keep }: AccessLogsProps) {
    super(scope, id)
    this.bucket = new s3.Bucket(this, 'Bucket', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_PREFERRED, // CloudFront delivers by ACL
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [{ id: 'expire', expiration: keep }],
    }) as s3.IBucket
    acknowledge(this.bucket, { 'AwsSolutions-S1': 'a log of the log would never end' })
  }
}
