import { Duration } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import * as sns from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { Api } from './api.ts'
import type { Maintenance } from './maintenance.ts'
import { metricsNamespace } from './metrics-namespace.ts'
import type { Storage } from './storage.ts'

interface AlarmsProps {
  readonly api: Api
  readonly maintenance: Maintenance
  readonly storage: Storage
  /** Where alarms are mailed. @default nowhere; the topic can be subscribed to */
  readonly email?: string
}

interface Alarm {
  /** Also the heading of its section in docs/OPERATIONS.md. */
  readonly title: string
  readonly metric: cloudwatch.IMetric
  /** Rings above it. */
  readonly above: number
  /** Periods in a row. */
  readonly periods: number
}

const minutes5 = Duration.minutes(5)

/** What rings, and where to read on. Every alarm has a section of its own in the operations guide. */
export class Alarms extends Construct {
  readonly topic: sns.Topic

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    this.topic = new sns.Topic(this, 'Topic', { displayName: 'runfold alarms', enforceSSL: true })
    if (props.email) this.topic.addSubscription(new EmailSubscription(props.email))
    for (const { title, metric, above, periods } of alarmsOf(props, metricsNamespace(this))) {
      const alarm = new cloudwatch.Alarm(this, title.replaceAll(' ', ''), {
        alarmDescription: `${title}. What to do: docs/OPERATIONS.md, "Alarm: ${title}"`,
        metric,
        threshold: above,
        evaluationPeriods: periods,
        comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      })
      alarm.addAlarmAction(new SnsAction(this.topic))
      alarm.addOkAction(new SnsAction(this.topic))
    }
  }
}

function alarmsOf({ api, maintenance, storage }: AlarmsProps, namespace: string): readonly Alarm[] {
  const ours = (metricName: string, statistic: string) =>
    new cloudwatch.Metric({ namespace, metricName, statistic, period: minutes5 })
  const { fn } = api
  const url5xx = new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName: 'Url5xxCount',
    dimensionsMap: { FunctionName: fn.functionName },
    statistic: 'Sum',
    period: minutes5,
  })
  return [
    { title: 'API fails', metric: url5xx, above: 10, periods: 2 },
    { title: 'API crashes', metric: fn.metricErrors({ period: minutes5 }), above: 5, periods: 2 },
    { title: 'API is throttled', metric: fn.metricThrottles({ period: minutes5 }), above: 0, periods: 2 },
    { title: 'Appends are pushed back', metric: ours('SlowDown', 'Sum'), above: 10, periods: 2 },
    { title: 'Table is throttled', metric: tableThrottles(storage), above: 0, periods: 2 },
    {
      title: 'Maintenance fails',
      metric: maintenance.fn.metricErrors({ period: minutes5 }),
      above: 0,
      periods: 3,
    },
    {
      title: 'Maintenance gave up',
      metric: maintenance.deadLetters.metricApproximateNumberOfMessagesVisible({ period: minutes5 }),
      above: 0,
      periods: 1,
    },
    { title: 'Due list grows old', metric: ours('DueListAge', 'Maximum'), above: 1800, periods: 3 },
    { title: 'Merging lags', metric: ours('ExtentsPerRun', 'Maximum'), above: 256, periods: 3 },
  ]
}

function tableThrottles({ table }: Storage): cloudwatch.IMetric {
  const events = (metricName: string) => table.metric(metricName, { statistic: 'Sum', period: minutes5 })
  return new cloudwatch.MathExpression({
    label: 'throttled reads and writes',
    expression: 'reads + writes',
    usingMetrics: { reads: events('ReadThrottleEvents'), writes: events('WriteThrottleEvents') },
    period: minutes5,
  })
}
