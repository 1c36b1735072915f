import { Logger } from '@aws-lambda-powertools/logger'
import { type Log, told } from './log.ts'

/** Structured lines for CloudWatch, one for each request. Never a token, a secret, a query or a byte of a body. */
export function createLambdaLog(): Log {
  const logger = new Logger({ serviceName: 'runfold' })
  return {
    warn: (message, cause) => logger.warn(message, { ...(cause !== undefined && { cause: told(cause) }) }),
    request: ({ cause, ...event }) => {
      const ms = Math.round(event.ms * 10) / 10
      const line = { ...event, ms, ...(cause !== undefined && { cause: told(cause) }) }
      if (event.status >= 500) logger.error('request', line)
      else logger.info('request', line)
    },
  }
}
