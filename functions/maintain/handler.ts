import type { Context } from 'aws-lambda'
import { createSessionArchive, createSessionMaintainer } from '#sessions/archive'
import { createMaintainer, systemClock } from '#store'
import { awsPorts } from '#store/aws'
import { createLambdaLog } from '../api/lambda-log.ts'
import { createLambdaMetrics } from '../api/lambda-metrics.ts'
import { LAMBDA_LIMITS } from '../api/limits.ts'
import { awsOptions, readFunctionEnv } from '../env.ts'
import { observedPorts, tallyVisit } from '../observed.ts'
import { retentionOf } from '../retention.ts'
import { endOnTerm } from '../shutdown.ts'
import { createMaintenance } from './maintenance.ts'

const { store, retentionDays } = readFunctionEnv(process.env)
const log = createLambdaLog()
const { tally, publish } = createLambdaMetrics()
const { during } = endOnTerm(process)

const aws = awsPorts(awsOptions(store))
const ports = observedPorts(aws, tally)
const sessions = createSessionArchive(ports, { clock: systemClock, limits: LAMBDA_LIMITS })
const maintain = createMaintenance({
  runs: createMaintainer(ports, systemClock, {
    ...retentionOf(retentionDays),
    observe: (visit) => tallyVisit(visit, tally),
  }),
  sessions: createSessionMaintainer(sessions),
  again: (event) => aws.invoke(process.env.AWS_LAMBDA_FUNCTION_NAME ?? '', event),
  tally,
  log,
})

export const handler = (event: unknown, context: Context): Promise<void> =>
  during(() => maintain(event, context).finally(publish))
