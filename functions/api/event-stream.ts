import { joined, jsonBytes, jsonChunks } from '#codec'
import { EVENTS_MEDIA_TYPE } from '#schema'
import type { Clock, FrameItem } from '#store'
import { liveBody } from './live-body.ts'

/** API.md: a comment at least every 15 s; looks at the run are half a second apart. */
const HEARTBEAT_MS = 10_000
/** Events are gathered up to here. */
const PIECE_BYTES = 64 << 10
/** How long a client waits before it connects again. */
const RETRY_MS = 1000

export interface EventStreamOptions {
  readonly clock: Clock
  /** The id to go on from when nothing has come yet. */
  readonly offset: number
  /** When the caller is asked to connect again, ms; undefined where an answer may last for ever. */
  readonly until: number | undefined
  /** The caller has left, or the process ends. */
  readonly leaving: AbortSignal
  /** Throws when the caller may not read on. */
  readonly stillAllowed: () => Promise<void>
  /** Called once, however the stream ends. */
  readonly ended: () => void
}

/** Items as Server-Sent Events; an empty list of them means that nothing new has come. */
export function answerEvents(
  batches: AsyncIterable<readonly FrameItem[]>,
  options: EventStreamOptions,
): Response {
  const body = liveBody(events(batches, options), options.clock, options.ended)
  const headers = {
    'Content-Type': EVENTS_MEDIA_TYPE,
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no', // some proxies gather an answer before they pass it on
  }
  return new Response(body, { headers })
}

async function* events(
  batches: AsyncIterable<readonly FrameItem[]>,
  { clock, offset, until = Number.POSITIVE_INFINITY, leaving, stillAllowed }: EventStreamOptions,
): AsyncGenerator<Uint8Array> {
  // An id without data is no event, but a browser that is cut off before the first record goes on from it.
  yield encoded(`retry: ${RETRY_MS}\nid: ${offset}\n\n`)
  let said = clock.now()
  for await (const items of batches) {
    await stillAllowed()
    const isSilent = items.length === 0 && clock.now() - said < HEARTBEAT_MS
    if (items.length > 0) yield* gathered(records(items))
    else yield isSilent ? NOTHING : encoded(':\n\n')
    if (!isSilent) said = clock.now()
    if (!leaving.aborted && clock.now() < until) continue
    yield encoded('event: reconnect\ndata: {}\n\n')
    return
  }
}

/** Nothing to send; whoever wants to stop can do so here. */
const NOTHING = new Uint8Array(0)
const encoder = new TextEncoder()
const encoded = (lines: string) => encoder.encode(lines)

function* records(items: readonly FrameItem[]): Generator<Uint8Array> {
  for (const item of items) {
    yield encoded(`event: record\nid: ${item.offset + item.length}\ndata: `)
    if (item.length > PIECE_BYTES) yield* jsonChunks(item)
    else yield jsonBytes(item)
    yield encoded('\n\n')
  }
}

/** Small pieces joined, so that an event costs no write of its own. */
function* gathered(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let some: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    some.push(piece)
    length += piece.length
    if (length < PIECE_BYTES) continue
    yield joined(some)
    some = []
    length = 0
  }
  if (length > 0) yield joined(some)
}
