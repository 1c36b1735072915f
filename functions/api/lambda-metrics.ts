import { Metrics } from '@aws-lambda-powertools/metrics'
import { MEASURES, type Tally } from '../measures.ts'

export interface LambdaMetrics {
  readonly tally: Tally
  /** Sends what was counted since, as one line of CloudWatch's embedded metric format; nothing where that is nothing. */
  publish(): void
}

/**
 * Counts for CloudWatch. They have no dimensions, each of which would make another metric to pay for; stages that share an
 * account are told apart by POWERTOOLS_METRICS_NAMESPACE.
 */
export function createLambdaMetrics(): LambdaMetrics {
  const metrics = new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE || 'runfold' })
  metrics.clearDefaultDimensions()
  return {
    tally: (name, value) => metrics.addMetric(name, MEASURES[name].unit, value),
    publish: () => {
      metrics.addDimensions({}) // a set of none
      metrics.publishStoredMetrics()
    },
  }
}
