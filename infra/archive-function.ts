import type { Duration } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { acknowledge, FINDING_OF_TRACING } from './acknowledge.ts'
import { metricsNamespace } from './metrics-namespace.ts'

interface ArchiveFunctionProps {
  /** A folder with `index.mjs`, as `npm run build:lambda` makes it. */
  readonly code: lambda.Code
  readonly description: string
  readonly timeout: Duration
  /** MiB; CPU grows with it, one core at 1769. */
  readonly memorySize: number
  readonly logRetention: RetentionDays
  readonly environment?: Record<string, string>
  /** @default the account's shared pool */
  readonly reservedConcurrency?: number
}

/** A Lambda function as all of ours are: Node 24 on arm64, its own role, its own log group, traced. */
export class ArchiveFunction extends Construct {
  readonly fn: lambda.Function
  readonly logGroup: LogGroup

  constructor(scope: Construct, id: string, props: ArchiveFunctionProps) {
    super(scope, id)
    const { logRetention, reservedConcurrency, environment, ...rest } = props
    this.logGroup = new LogGroup(this, 'Logs', { retention: logRetention })
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    this.fn = new lambda.Function(this, 'Function', {
      ...rest,
      role,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      tracing: lambda.Tracing.ACTIVE,
      environment: { POWERTOOLS_METRICS_NAMESPACE: metricsNamespace(this), ...environment },
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
    })
    role.addToPolicy(
      new PolicyStatement({
        sid: 'Logs',
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [this.logGroup.logGroupArn],
      }),
    )
    acknowledge(role, { [FINDING_OF_TRACING]: 'X-Ray knows no resource finer than *' })
  }
}
