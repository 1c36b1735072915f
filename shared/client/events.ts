import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { parseJson } from '../codec/index.ts'
import { EVENTS_MEDIA_TYPE, isRunfoldError, type RecordItem } from '../schema/index.ts'
import { bodyOf } from './lines.ts'
import { pause, type RetryPolicy } from './retry.ts'
import type { Transport } from './transport.ts'

/** The server says something at least every 15 s; a connection that is silent for so long is dead. */
const SILENT_MS = 45_000
/** Before connecting again, where the server has not asked for it. */
const AGAIN_MS = 1000

export interface FollowOptions {
  /** A frame boundary: the end of the last item that was seen, or 0. */
  readonly offset: number
  readonly signal?: AbortSignal | undefined
  /** @default 45000 */
  readonly silentMs?: number | undefined
  readonly sleep?: RetryPolicy['sleep']
}

/**
 * The items from an offset on, also those that come later, each once: whenever the connection is lost or the server asks
 * for another, it goes on behind the last item. Rejects when the run is gone or the token not good any more, and when the
 * server stays away longer than requests are repeated.
 */
export async function* followEvents(
  transport: Transport,
  path: readonly string[],
  { offset, signal, silentMs = SILENT_MS, sleep = pause }: FollowOptions,
): AsyncGenerator<RecordItem> {
  for (let at = offset; ; ) {
    let isAsked = false
    for await (const { event, id, data } of connection(transport, path, at, silentMs, signal)) {
      isAsked = event === 'reconnect'
      if (event !== 'record') continue
      at = Number(id)
      yield parseJson(data) as unknown as RecordItem
    }
    if (!isAsked) await sleep(AGAIN_MS, signal)
  }
}

/** The events of one connection; it ends when the connection does, however that was. */
async function* connection(
  transport: Transport,
  path: readonly string[],
  offset: number,
  silentMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventSourceMessage> {
  const silent = new AbortController()
  const either = signal ? AbortSignal.any([signal, silent.signal]) : silent.signal
  const headers = { accept: EVENTS_MEDIA_TYPE }
  const response = await transport.open({ path, query: { offset }, headers, signal: either })
  let events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  const decoder = new TextDecoder()
  let timer = setTimeout(() => silent.abort(), silentMs)
  try {
    for await (const chunk of bodyOf(response, signal)) {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), silentMs)
      parser.feed(decoder.decode(chunk, { stream: true }))
      yield* events
      events = []
    }
  } catch (error) {
    if (!isRunfoldError(error, 'unavailable')) throw error
  } finally {
    clearTimeout(timer)
  }
}
