import { Duration } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront'
import { FunctionUrlOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import type { FunctionUrl } from 'aws-cdk-lib/aws-lambda'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { ORIGIN_SECRET_HEADER } from '../functions/env.ts'
import { acknowledge } from './acknowledge.ts'

/** A name of one's own, with the ARN of its certificate in us-east-1. */
interface Domain {
  readonly name: string
  readonly certificateArn: string
}

interface FrontProps {
  readonly api: FunctionUrl
  readonly accessLogs: IBucket
  /** @default the distribution's own name */
  readonly domain?: Domain
  /** ARN of a web ACL of scope CLOUDFRONT. @default none */
  readonly webAclArn?: string
  /** Told to the origin with every request. @default none */
  readonly originSecret?: ISecret
}

/**
 * One address for the API and the viewer. Answers of the API are never cached nor compressed here, so that a stream
 * leaves as it comes and bytes stay what they were; the viewer's files are asked for anew after a second.
 */
export class Front extends Construct {
  readonly distribution: cloudfront.Distribution

  constructor(scope: Construct, id: string, props: FrontProps) {
    super(scope, id)
    const { api, accessLogs, domain, webAclArn, originSecret } = props
    const origin = new FunctionUrlOrigin(api, {
      readTimeout: Duration.seconds(60), // between two packets; a stream says something every 15 s
      keepaliveTimeout: Duration.seconds(60),
      ...(originSecret && {
        customHeaders: { [ORIGIN_SECRET_HEADER]: originSecret.secretValue.unsafeUnwrap() },
      }),
    })
    const viewerProtocolPolicy = cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: 'runfold: API and viewer',
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      enableLogging: true,
      logBucket: accessLogs,
      logFilePrefix: 'front/',
      ...(webAclArn !== undefined && { webAclId: webAclArn }),
      ...(domain && {
        domainNames: [domain.name],
        minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      }),
      defaultBehavior: {
        origin,
        viewerProtocolPolicy,
        // The one that goes by the origin's headers sends the caller's Host on, which a function URL refuses.
        cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
      },
      additionalBehaviors: {
        '/v1/*': {
          origin,
          viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY, // a token is never sent in clear
          allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
          cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
          originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
          compress: false,
        },
      },
    })
    this.#acknowledge(props)
  }

  /** The address people use. */
  get url(): string {
    return `https://${this.distribution.distributionDomainName}`
  }

  #acknowledge({ domain, webAclArn }: FrontProps): void {
    acknowledge(this.distribution, {
      'AwsSolutions-CFR1': 'agents run in any country; who may do what is decided by tokens',
      ...(!webAclArn && {
        'AwsSolutions-CFR2': 'a web ACL costs money and is attached with -c web_acl_arn=… where it is wanted',
      }),
      ...(!domain && {
        'AwsSolutions-CFR4':
          'the certificate of *.cloudfront.net allows no lower bound; with -c domain=… it is TLS 1.2',
      }),
    })
  }
}
