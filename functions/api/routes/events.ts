import * as z from 'zod'
import { EVENTS_MEDIA_TYPE, type EventsQuery, eventsQuery, LAST_EVENT_ID, lastEventId, runId } from '#schema'
import { type ArchiveView, type Boundary, boundaryAt } from '#store'
import { answerEvents } from '../event-stream.ts'
import { badRequest, parsed } from '../issues.ts'
import { StreamBudget } from '../limits.ts'
import { type Call, defineRoute, type Route, runOf } from '../route.ts'

/** Of the connections of a process (start-server.ts), the most that streams may take. */
const MAX_STREAMS = 1500
const streams = new StreamBudget(MAX_STREAMS)
/** Room for the last piece, before the platform cuts the answer. */
const MARGIN_MS = 15_000

const show = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/events',
  about:
    'Follows the run: Server-Sent Events `record` from `offset` or Last-Event-ID on (default: the tail), then `reconnect` before the platform ends the answer',
  need: 'read',
  feature: 'events',
  params: z.object({ run_id: runId }),
  query: eventsQuery,
  answers: [{ status: 200, about: 'The records as they come', types: [EVENTS_MEDIA_TYPE] }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => {
    const { archive, clock } = call.parts
    const { answerMs } = call
    const began = clock.now()
    const view = await archive.view(runOf(call))
    const from = await startOf(view, call)
    return answerEvents(archive.follow(view, from), {
      clock,
      offset: Math.min(from.offset, view.head.tail), // of an empty archive 0
      until: answerMs === undefined ? undefined : began + answerMs - MARGIN_MS,
      leaving: call.leaving(),
      stillAllowed: call.stillAllowed,
      ended: streams.take(),
    })
  },
})

/** Last-Event-ID counts before `offset`: a browser connects again to the URL it was given, and adds the header. */
async function startOf(view: ArchiveView, { headers, query }: Call<unknown, EventsQuery>): Promise<Boundary> {
  const last = headers.get(LAST_EVENT_ID)
  const asked = last === null ? query.offset : parsed(lastEventId, { [LAST_EVENT_ID]: last })[LAST_EVENT_ID]
  const { tail } = view.head
  const boundary = await boundaryAt(view, asked ?? tail)
  if (boundary) return boundary
  const path = last === null ? 'offset' : LAST_EVENT_ID
  throw badRequest([{ path, message: `no frame ends at ${asked}; the archive ends at ${tail}` }])
}

export const eventsRoutes: readonly Route[] = [show]
