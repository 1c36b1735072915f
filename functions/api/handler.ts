import { fileURLToPath } from 'node:url'
import type { LambdaFunctionURLEvent } from 'aws-lambda'
import type { RunKey } from '#schema'
import { createSessionArchive } from '#sessions/archive'
import { createArchive, createTokens, isIndexLost, systemClock } from '#store'
import { awsPorts } from '#store/aws'
import { awsOptions, readFunctionEnv } from '../env.ts'
import { visiting } from '../maintain/maintenance.ts'
import { observedArchive, observedPorts, tallyFold, tallyProblem } from '../observed.ts'
import { endOnTerm } from '../shutdown.ts'
import { createApp } from './app.ts'
import { FEATURES_OFFERED } from './features.ts'
import { createIndexCheck } from './index-check.ts'
import { lambdaListener } from './lambda-listener.ts'
import { createLambdaLog } from './lambda-log.ts'
import { createLambdaMetrics } from './lambda-metrics.ts'
import { LAMBDA_ANSWER_BYTES, LAMBDA_LIMITS } from './limits.ts'
import { createOriginCheck } from './origin-check.ts'
import { Pending } from './pending.ts'
import { VERSION } from './version.ts'
import { builtViewer } from './viewer/built.ts'
import { viewerRoutes } from './viewer/routes.ts'

const { store, maintain, originSecret } = readFunctionEnv(process.env)
const log = createLambdaLog()
const { tally, publish } = createLambdaMetrics()
const pending = new Pending()
const { closing, during } = endOnTerm(process)

/** Maintenance of a run that has become due begins at once, but no append waits for it nor fails with it. */
const callMaintenance = (run: RunKey) => {
  if (maintain === undefined) return
  const failed = (error: unknown) => log.warn('maintenance was not called; the schedule will', error)
  pending.add(aws.invoke(maintain, visiting(run)).catch(failed))
}

const aws = awsPorts({
  ...awsOptions(store),
  onStaleCard: (_run, error) => log.warn('a card was not written; maintenance mends it', error),
})
const ports = observedPorts(aws, tally, callMaintenance)
const archive = createArchive(ports, {
  clock: systemClock,
  limits: LAMBDA_LIMITS,
  folded: tallyFold(tally),
})
const checkOrigin =
  originSecret === undefined ? undefined : createOriginCheck(originSecret, aws.readSecret, systemClock)
const checkIndex = createIndexCheck(() => isIndexLost(ports))
const app = createApp({
  archive: observedArchive(archive, tally),
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
  admit: async (headers) => {
    await checkOrigin?.(headers)
    await checkIndex()
  },
  observe: (event) => {
    tallyProblem(event.code, tally)
    log.request(event)
  },
})

viewerRoutes(app, () => builtViewer(fileURLToPath(new URL('./viewer/', import.meta.url))))

const listener = lambdaListener({
  fetch: app.fetch,
  afterwards: () => pending.settled().then(publish),
  failed: log.warn,
})

export const handler = awslambda.streamifyResponse<LambdaFunctionURLEvent, void>((...call) =>
  during(async () => listener(...call)),
)
