import type { Context, LambdaFunctionURLEvent, StreamifyHandler } from 'aws-lambda'
import { answerError, refusalOf } from './answer-error.ts'
import type { Env } from './env.ts'
import { badRequest } from './issues.ts'
import { sendAnswer } from './lambda-answer.ts'
import { requestOf } from './lambda-request.ts'

/** Before its time is over, whoever waits is answered… */
const ANSWER_MARGIN_MS = 5_000
/** …and what is still being sent is broken off by us: the platform would end the process in the middle of anything. */
const CUT_MARGIN_MS = 1_000

export interface ListenerOptions {
  readonly fetch: (request: Request, env: Env['Bindings']) => Response | Promise<Response>
  /** What is left to do once the caller has its answer; the process may be frozen after it. */
  readonly afterwards: () => Promise<unknown>
  /** Told of what broke an answer off. */
  readonly failed: (message: string, cause: unknown) => void
}

/** The app as a streaming handler of a function URL. One process handles one request at a time. */
export function lambdaListener(options: ListenerOptions): StreamifyHandler<LambdaFunctionURLEvent, void> {
  return async (event, stream, context: Context) => {
    // Connections to the storage are kept open, and the next request need not wait for their end.
    context.callbackWaitsForEmptyEventLoop = false
    const { leaving, over, done } = deadlines(context)
    stream.once('close', () => leaving.abort())
    try {
      const response = await answerTo(event, context, leaving.signal, options.fetch)
      await sendAnswer(response, stream, over.signal)
    } catch (cause) {
      options.failed('an answer was broken off', cause)
      throw cause
    } finally {
      done()
      await options.afterwards()
    }
  }
}

async function answerTo(
  event: LambdaFunctionURLEvent,
  context: Context,
  leaving: AbortSignal,
  fetch: ListenerOptions['fetch'],
): Promise<Response> {
  const requestId = context.awsRequestId
  try {
    const { request, target, peer } = requestOf(event, leaving)
    return await fetch(request, { requestId, target, peer, answerMs: context.getRemainingTimeInMillis() })
  } catch (thrown) {
    return answerError(thrown instanceof TypeError ? NO_REQUEST : refusalOf(thrown).error, requestId)
  }
}

const NO_REQUEST = badRequest([{ path: '', message: 'the event is no request to a function URL' }])

function deadlines(context: Context) {
  const [leaving, over] = [new AbortController(), new AbortController()]
  const left = context.getRemainingTimeInMillis()
  const timers = [
    setTimeout(() => leaving.abort(), Math.max(0, left - ANSWER_MARGIN_MS)),
    setTimeout(
      () => over.abort(new Error('the function may run no longer')),
      Math.max(0, left - CUT_MARGIN_MS),
    ),
  ]
  return { leaving, over, done: () => timers.forEach(clearTimeout) }
}
