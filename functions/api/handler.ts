import type { LambdaFunctionURLEvent } from 'aws-lambda'
import { createSessionArchive } from '#sessions/archive'
import { createArchive, createTokens, systemClock } from '#store'
import { awsPorts } from '#store/aws'
import { awsOptions, readFunctionEnv } from '../env.ts'
import { endOnTerm } from '../shutdown.ts'
import { createApp } from './app.ts'
import { FEATURES_OFFERED } from './features.ts'
import { lambdaListener } from './lambda-listener.ts'
import { createLambdaLog } from './lambda-log.ts'
import { LAMBDA_ANSWER_BYTES, LAMBDA_LIMITS } from './limits.ts'
import { createOriginCheck } from './origin-check.ts'
import { VERSION } from './version.ts'

const { store, originSecret } = readFunctionEnv(process.env)
const log = createLambdaLog()
const { closing, during } = endOnTerm(process)

const ports = awsPorts({
  ...awsOptions(store),
  onStaleCard: (_run, error) => log.warn('a card was not written; maintenance mends it', error),
})
const app = createApp({
  archive: createArchive(ports, { clock: systemClock, limits: LAMBDA_LIMITS }),
  sessions: createSessionArchive(ports, {
    clock: systemClock,
    limits: LAMBDA_LIMITS,
    failed: (_session, error) => log.warn('a document was not derived; the next look tries again', error),
  }),
  tokens: createTokens(ports.tokens, systemClock),
  clock: systemClock,
  limits: LAMBDA_LIMITS,
  maxAnswerBytes: LAMBDA_ANSWER_BYTES,
  features: FEATURES_OFFERED,
  version: VERSION,
  closing,
  ...(originSecret !== undefined && {
    admit: createOriginCheck(originSecret, ports.readSecret, systemClock),
  }),
  observe: (event) => log.request(event),
})

const listener = lambdaListener({ fetch: app.fetch, afterwards: async () => {}, failed: log.warn })

export const handler = awslambda.streamifyResponse<LambdaFunctionURLEvent, void>((...call) =>
  during(async () => listener(...call)),
)
