import { Duration } from 'aws-cdk-lib'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { ArchiveFunction } from './archive-function.ts'
import type { Maintenance } from './maintenance.ts'
import type { Storage } from './storage.ts'

interface ApiProps {
  readonly code: lambda.Code
  readonly storage: Storage
  readonly maintenance: Maintenance
  readonly logRetention: RetentionDays
  /** @default the account's shared pool */
  readonly reservedConcurrency?: number
  /** What every caller has to show in a header; without it the function's own URL can be called, too. */
  readonly originSecret?: ISecret
}

/**
 * The REST contract as one function behind a URL that streams. Its auth type is NONE since every route but health checks
 * its token itself; an origin access control would overwrite the `Authorization` header that carries it.
 */
export class Api extends Construct {
  readonly fn: lambda.Function
  readonly logGroup: ArchiveFunction['logGroup']
  readonly url: lambda.FunctionUrl

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id)
    const { storage, maintenance, originSecret, ...rest } = props
    const { fn, logGroup } = new ArchiveFunction(this, 'Handler', {
      ...rest,
      description: 'runfold: the REST API',
      timeout: Duration.minutes(15), // as long as a stream may last
      memorySize: 1769,
    })
    this.fn = fn
    this.logGroup = logGroup
    storage.connect(fn)
    maintenance.invokedBy(fn)
    if (originSecret) {
      originSecret.grantRead(fn)
      fn.addEnvironment('RUNFOLD_ORIGIN_SECRET', originSecret.secretArn)
    }
    this.url = fn.addFunctionUrl({
      authType: lambda.FunctionUrlAuthType.NONE,
      invokeMode: lambda.InvokeMode.RESPONSE_STREAM,
    })
  }
}
