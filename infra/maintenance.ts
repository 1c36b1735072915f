import { Duration } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type * as lambda from 'aws-cdk-lib/aws-lambda'
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations'
import type { RetentionDays } from 'aws-cdk-lib/aws-logs'
import * as sqs from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import { ArchiveFunction } from './archive-function.ts'
import type { Storage } from './storage.ts'

interface MaintenanceProps {
  readonly code: lambda.Code
  readonly storage: Storage
  readonly logRetention: RetentionDays
  /** Days after its last change until an ended run is deleted. @default kept for ever */
  readonly retentionDays?: number
}

/**
 * Works the due list off: merges, snapshots, sweeps. Called by a schedule and, asynchronously, by the append path; once a day
 * it visits every run, and calls itself to go on where its time was too short.
 */
export class Maintenance extends Construct {
  readonly fn: lambda.Function
  readonly deadLetters: sqs.Queue

  constructor(scope: Construct, id: string, props: MaintenanceProps) {
    super(scope, id)
    const { storage, retentionDays, ...rest } = props
    const { fn } = new ArchiveFunction(this, 'Handler', {
      ...rest,
      description: 'runfold: merges, snapshots, sweeps',
      timeout: Duration.minutes(15),
      memorySize: 1769,
      ...(retentionDays !== undefined && { environment: { RUNFOLD_RETENTION_DAYS: String(retentionDays) } }),
    })
    this.fn = fn
    storage.connect(fn)
    this.deadLetters = new sqs.Queue(this, 'DeadLetters', {
      enforceSSL: true,
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      retentionPeriod: Duration.days(14),
    })
    acknowledge(this.deadLetters, { 'AwsSolutions-SQS3': 'this is the dead-letter queue itself' })
    fn.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: Duration.hours(1),
      onFailure: new SqsDestination(this.deadLetters),
    })
    new Rule(this, 'EveryMinute', {
      description: 'runfold: the due list',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(fn)],
    })
    new Rule(this, 'EveryDay', {
      description: 'runfold: the slow round over every run',
      schedule: Schedule.rate(Duration.days(1)),
      targets: [new LambdaFunction(fn, { event: RuleTargetInput.fromObject({ round: {} }) })],
    })
    // A policy of its own: the function waits for that of its role, and could not be named in it.
    new Policy(this, 'GoOn', {
      statements: [this.#invoke()],
      ...(fn.role && { roles: [fn.role] }),
    })
  }

  /** Lets the append path ask for a round at once, and tells it whom. */
  invokedBy(caller: lambda.Function): void {
    caller.addEnvironment('RUNFOLD_MAINTAIN_FUNCTION', this.fn.functionName)
    caller.addToRolePolicy(this.#invoke())
  }

  #invoke(): PolicyStatement {
    return new PolicyStatement({
      sid: 'Maintenance',
      actions: ['lambda:InvokeFunction'],
      resources: [this.fn.functionArn],
    })
  }
}
