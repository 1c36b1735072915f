import type { StreamifyHandler } from 'aws-lambda' // which declares the global `awslambda`, too

type ResponseStream = Parameters<StreamifyHandler>[1]

/**
 * Sends an answer through the stream that Lambda gives, each piece when the one before has been taken. The stream is a
 * request to the runtime's API and no more than it: its `end` drops what it is given, and its head goes with the first
 * write, be it empty.
 *
 * Resolves when all is sent or nobody takes it any more; the source is told so then.
 *
 * @param over aborts when the function may run no longer
 * @throws what broke the answer off. The caller must not end the stream then: the platform cuts the connection, and
 * what came so far does not look whole (P7).
 */
export async function sendAnswer(
  response: Response,
  stream: ResponseStream,
  over: AbortSignal,
): Promise<void> {
  const head = { statusCode: response.status, headers: Object.fromEntries(response.headers) }
  const out = awslambda.HttpResponseStream.from(stream, head)
  const reader = response.body?.getReader()
  let isLeft = false
  let wake = () => {}
  const stop = () => {
    void reader?.cancel().catch(() => {}) // its error is of no use to anyone
    wake()
  }
  const leave = () => {
    isLeft = true
    stop()
  }
  stream.once('error', leave)
  stream.once('close', leave)
  over.addEventListener('abort', stop)
  try {
    out.write('')
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      if (isLeft) return
      const taken = out.write(next.value)
      if (taken || over.aborted) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        stream.once('drain', resolve)
      })
    }
    if (isLeft) return
    over.throwIfAborted()
    out.end()
  } finally {
    over.removeEventListener('abort', stop)
  }
}
