import type { Context } from 'aws-lambda'
import { createMaintainer, systemClock } from '#store'
import { awsPorts } from '#store/aws'
import { createLambdaLog } from '../api/lambda-log.ts'
import { awsOptions, readFunctionEnv } from '../env.ts'

const { store } = readFunctionEnv(process.env)
const log = createLambdaLog()
const maintainer = createMaintainer(awsPorts(awsOptions(store)), systemClock)

export async function handler(_event: unknown, _context: Context): Promise<void> {
  await maintainer.pass().catch((error) => {
    log.warn('a round of maintenance failed; the next one tries again', error)
    throw error
  })
}
