import type { Context } from 'aws-lambda'
import { createSessionArchive, createSessionMaintainer } from '#sessions/archive'
import { createMaintainer, systemClock } from '#store'
import { awsPorts } from '#store/aws'
import { createLambdaLog } from '../api/lambda-log.ts'
import { LAMBDA_LIMITS } from '../api/limits.ts'
import { awsOptions, readFunctionEnv } from '../env.ts'

const { store } = readFunctionEnv(process.env)
const log = createLambdaLog()
const ports = awsPorts(awsOptions(store))
const sessions = createSessionArchive(ports, { clock: systemClock, limits: LAMBDA_LIMITS })
const maintainers = [createMaintainer(ports, systemClock), createSessionMaintainer(sessions)]

export async function handler(_event: unknown, _context: Context): Promise<void> {
  const failures: unknown[] = []
  for (const maintainer of maintainers) await maintainer.pass().catch((error) => failures.push(error))
  if (failures.length === 0) return
  const error = failures.length > 1 ? new AggregateError(failures) : failures[0]
  log.warn('a round of maintenance failed; the next one tries again', error)
  throw error
}
