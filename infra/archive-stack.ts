import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Code } from 'aws-cdk-lib/aws-lambda'
import { Bucket } from 'aws-cdk-lib/aws-s3'
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { AccessLogs } from './access-logs.ts'
import { acknowledge } from './acknowledge.ts'
import { Alarms } from './alarms.ts'
import { Api } from './api.ts'
import { Audit } from './audit.ts'
import type { StageConfig } from './config.ts'
import { Front } from './front.ts'
import { Maintenance } from './maintenance.ts'
import { retentionOf } from './retention.ts'
import { Storage } from './storage.ts'

interface ArchiveStackProps extends StackProps {
  readonly config: StageConfig
  /** The bundles of the functions. */
  readonly code: { readonly api: Code; readonly maintain: Code }
}

/** One stage of runfold: storage, API, maintenance, the address before them, and what watches over all of it. */
export class ArchiveStack extends Stack {
  constructor(scope: Construct, id: string, { config, code, ...props }: ArchiveStackProps) {
    super(scope, id, props)
    const logRetention = retentionOf(config.log_days)
    const { bucket: accessLogs } = new AccessLogs(this, 'AccessLogs', {
      keep: Duration.days(config.log_days),
    })
    const storage = new Storage(this, 'Storage', {
      accessLogs,
      pointInTimeRecovery: config.point_in_time_recovery,
      ...(config.bucket !== undefined && { bucket: Bucket.fromBucketName(this, 'Bucket', config.bucket) }),
      ...(config.kms_key_arn !== undefined && { key: Key.fromKeyArn(this, 'Key', config.kms_key_arn) }),
      ...(config.infrequent_after_days !== undefined && {
        infrequentAfter: Duration.days(config.infrequent_after_days),
      }),
    })
    if (!config.point_in_time_recovery)
      acknowledge(storage.table, { 'AwsSolutions-DDB3': 'turned off by -c point_in_time_recovery=false' })
    const maintenance = new Maintenance(this, 'Maintenance', {
      code: code.maintain,
      storage,
      logRetention,
      ...(config.retention_days !== undefined && { retentionDays: config.retention_days }),
    })
    const originSecret = config.web_acl_arn === undefined ? undefined : this.#originSecret()
    const api = new Api(this, 'Api', {
      code: code.api,
      storage,
      maintenance,
      logRetention,
      ...(config.reserved_concurrency !== undefined && { reservedConcurrency: config.reserved_concurrency }),
      ...(originSecret && { originSecret }),
    })
    const front = new Front(this, 'Front', {
      api: api.url,
      accessLogs,
      ...(originSecret && { originSecret }),
      ...(config.web_acl_arn !== undefined && { webAclArn: config.web_acl_arn }),
      ...(config.domain !== undefined &&
        config.certificate_arn !== undefined && {
          domain: { name: config.domain, certificateArn: config.certificate_arn },
        }),
    })
    new Audit(this, 'Audit', {
      logGroup: api.logGroup,
      accessLogs,
      keep: Duration.days(config.audit_days),
    })
    new Alarms(this, 'Alarms', {
      api,
      maintenance,
      storage,
      ...(config.alarm_email !== undefined && { email: config.alarm_email }),
    })
    const url = config.domain === undefined ? front.url : `https://${config.domain}`
    new CfnOutput(this, 'Url', { value: url, description: 'API and viewer' })
    new CfnOutput(this, 'FirstToken', {
      value: `npm run -s cli -- token first --store aws --bucket ${storage.bucket.bucketName} --table ${storage.table.tableName}`,
      description: 'Makes the first token, with your AWS credentials, and shows it once',
    })
  }

  #originSecret(): ISecret {
    const secret = new Secret(this, 'OriginSecret', {
      description: 'runfold: shown by the distribution to the API, so that nobody goes around the web ACL',
      generateSecretString: { passwordLength: 48, excludePunctuation: true },
    })
    acknowledge(secret, {
      'AwsSolutions-SMG4': 'rotated by a deployment that replaces it; both sides must change at once',
    })
    return secret as ISecret
  }
}
