import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { FULL, resourcesOf, templateOf } from './stack.ts'

const template = templateOf()
const full = templateOf(FULL)

describe('storage', () => {
  it('the bucket is closed to the public, takes TLS only, aborts stale uploads and outlives the stack', () => {
    template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        LifecycleConfiguration: {
          Rules: [{ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Id: 'abort-stale-uploads' }],
        },
        VersioningConfiguration: Match.absent(),
      },
    })
    const buckets = resourcesOf(template, 'AWS::S3::Bucket').map(([id]) => id)
    for (const id of buckets)
      template.hasResourceProperties('AWS::S3::BucketPolicy', {
        Bucket: { Ref: id },
        PolicyDocument: {
          Statement: Match.arrayWith([
            Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
          ]),
        },
      })
  })

  it('the table is on demand, recoverable to a point in time, protected and kept', () => {
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      },
    })
  })

  it('a bucket of theirs is used and no other made for archives', () => {
    expect(resourcesOf(full, 'AWS::S3::Bucket').filter(([id]) => id.startsWith('Storage'))).toEqual([])
    full.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ RUNFOLD_BUCKET: FULL.bucket }) },
    })
  })

  it('a key of theirs encrypts the table and may be used by both functions', () => {
    full.hasResourceProperties('AWS::DynamoDB::Table', {
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: FULL.kms_key_arn },
    })
    const users = resourcesOf(full, 'AWS::IAM::Policy').filter(([, properties]) =>
      JSON.stringify(properties).includes(FULL.kms_key_arn),
    )
    expect(users).toHaveLength(2)
  })
})

describe('functions', () => {
  it('both run on Node 24 and arm64 and know the storage', () => {
    const functions = resourcesOf(template, 'AWS::Lambda::Function')
    expect(functions).toHaveLength(2)
    for (const [, properties] of functions)
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        Environment: {
          Variables: {
            RUNFOLD_STORE: 'aws',
            RUNFOLD_BUCKET: expect.anything(),
            RUNFOLD_TABLE: expect.anything(),
          },
        },
      })
  })

  it('the API answers by a streaming URL that asks for no AWS signature', () => {
    template.hasResourceProperties('AWS::Lambda::Url', {
      AuthType: 'NONE',
      InvokeMode: 'RESPONSE_STREAM',
      Cors: Match.absent(),
    })
  })

  it('no origin access control stands before the API, since it would overwrite Authorization', () => {
    for (const each of [template, full]) each.resourceCountIs('AWS::CloudFront::OriginAccessControl', 0)
  })

  it('maintenance runs every minute and keeps what it gave up', () => {
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' })
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    })
  })

  it('maintenance visits every run once a day, and may call itself to go on', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 day)',
      Targets: [Match.objectLike({ Input: '{"round":{}}' })],
    })
    const [[fn] = []] = resourcesOf(template, 'AWS::Lambda::Function').filter(([id]) =>
      id.startsWith('Maintenance'),
    )
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('^MaintenanceGoOn'),
      PolicyDocument: {
        Statement: [
          Match.objectLike({ Action: 'lambda:InvokeFunction', Resource: { 'Fn::GetAtt': [fn, 'Arn'] } }),
        ],
      },
    })
  })

  it('the functions count under the name of their stage, where the alarms look', () => {
    for (const [, properties] of resourcesOf(full, 'AWS::Lambda::Function')) {
      expect(properties).toMatchObject({
        Environment: { Variables: { POWERTOOLS_METRICS_NAMESPACE: 'runfold-full' } },
      })
    }
    full.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'runfold-full',
      MetricName: 'DueListAge',
    })
  })

  it('only the API is told the name of maintenance, and may call it', () => {
    const named = resourcesOf(template, 'AWS::Lambda::Function').filter(([, properties]) =>
      JSON.stringify(properties).includes('RUNFOLD_MAINTAIN_FUNCTION'),
    )
    expect(named.map(([id]) => id)).toEqual([expect.stringMatching(/^Api/)])
  })

  it('settings of a stage reach the function they are for', () => {
    full.hasResourceProperties('AWS::Lambda::Function', { ReservedConcurrentExecutions: 50 })
    full.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ RUNFOLD_RETENTION_DAYS: '30' }) },
    })
    full.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 })
  })
})

describe('the front', () => {
  const behaviour = (each: typeof template) => {
    const [[, properties] = []] = resourcesOf(each, 'AWS::CloudFront::Distribution')
    return (properties as { DistributionConfig: Record<string, never> }).DistributionConfig
  }

  it('answers of the API are neither cached nor compressed, and every method and header reaches it', () => {
    const { CacheBehaviors } = behaviour(template) as unknown as { CacheBehaviors: unknown[] }
    expect(CacheBehaviors).toEqual([
      expect.objectContaining({
        PathPattern: '/v1/*',
        Compress: false,
        CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad', // CachingDisabled
        OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac', // AllViewerExceptHostHeader
        AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
        ViewerProtocolPolicy: 'https-only',
      }),
    ])
  })

  it('a web ACL brings the secret header that keeps callers from going around it; no template holds its value', () => {
    const config = behaviour(full) as unknown as {
      WebACLId: string
      Aliases: string[]
      Origins: { OriginCustomHeaders?: { HeaderName: string; HeaderValue: unknown }[] }[]
    }
    expect(config.WebACLId).toBe(FULL.web_acl_arn)
    expect(config.Aliases).toEqual([FULL.domain])
    const headers = config.Origins[0]?.OriginCustomHeaders
    expect(headers?.map(({ HeaderName }) => HeaderName)).toEqual(['x-runfold-origin'])
    expect(JSON.stringify(headers?.[0]?.HeaderValue)).toContain('{{resolve:secretsmanager:')
    expect(behaviour(template)).not.toHaveProperty('WebACLId')
    template.resourceCountIs('AWS::SecretsManager::Secret', 0)
  })
})

describe('settings', () => {
  it('what cannot be used is named, all of it', () => {
    expect(() => templateOf({ stage: 'Prod!', log_days: 0 })).toThrow(
      /stage[\s\S]*log_days|log_days[\s\S]*stage/,
    )
    expect(() => templateOf({ domain: 'a.example.com' })).toThrow('domain and certificate_arn go together')
  })

  it('the stack says its address and how to make the first token', () => {
    const outputs = template.findOutputs('*')
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['Url', 'FirstToken']))
    expect(JSON.stringify(outputs.FirstToken)).toContain(
      'npm run -s cli -- token first --store aws --bucket ',
    )
  })
})
