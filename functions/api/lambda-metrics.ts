import { Metrics } from '@aws-lambda-powertools/metrics'
import { MEASURES, type MeasureName, type Tally } from '../measures.ts'

export interface LambdaMetrics {
  readonly tally: Tally
  /** Sends what was counted since, as one line of CloudWatch's embedded metric format; nothing where that is nothing. */
  publish(): void
}

/**
 * Counts for CloudWatch, one value of each measure for an invocation: the sum, or the highest level. They have no
 * dimensions, each of which would make another metric to pay for; stages that share an account are told apart by
 * POWERTOOLS_METRICS_NAMESPACE.
 */
export function createLambdaMetrics(): LambdaMetrics {
  const metrics = new Metrics({ namespace: process.env.POWERTOOLS_METRICS_NAMESPACE || 'runfold' })
  metrics.clearDefaultDimensions()
  const counted = new Map<MeasureName, number>()
  return {
    tally: (name, value) => {
      const before = counted.get(name)
      const isSum = MEASURES[name].kind === 'sum'
      counted.set(name, isSum ? (before ?? 0) + value : Math.max(before ?? value, value))
    },
    publish: () => {
      if (counted.size === 0) return
      for (const [name, value] of counted) metrics.addMetric(name, MEASURES[name].unit, value)
      counted.clear()
      metrics.addDimensions({}) // a set of none
      metrics.publishStoredMetrics()
    },
  }
}
