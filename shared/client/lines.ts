import { joined, parseJson } from '../codec/index.ts'
import { type Json, RunfoldError } from '../schema/index.ts'
import { unreachable } from './retry.ts'

const LF = 0x0a

/**
 * The values of an `application/x-ndjson` body, one at a time; memory holds one line. A body that breaks off throws
 * `unavailable`, never ends as if it were whole.
 */
export async function* ndjson(response: Response, signal?: AbortSignal): AsyncGenerator<Json> {
  let pieces: Uint8Array[] = []
  for await (const chunk of bodyOf(response, signal)) {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      pieces.push(chunk.subarray(start, end))
      start = end + 1
      const line = joined(pieces)
      pieces = []
      if (line.length > 0) yield parseJson(line)
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start))
  }
  if (pieces.length > 0) throw new RunfoldError('unavailable', 'the answer broke off in the middle of a line')
}

/** The chunks of a body; a lost connection becomes `unavailable`. Stopping early cancels the download. */
export async function* bodyOf(response: Response, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  if (!response.body) return
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    throw unreachable(error, response.url || 'the server', signal)
  } finally {
    // After an error there is nothing left to cancel, and what cancelling says then is of no use.
    await reader.cancel().catch(() => undefined)
  }
}
