import * as z from 'zod'
import { queryInt } from './name.ts'

export const EVENTS_MEDIA_TYPE = 'text/event-stream'

/** Where to begin: an offset after a frame, or 0. The tail where neither this nor Last-Event-ID is given. */
export const eventsQuery = z.strictObject({ offset: queryInt.optional() })

/** The header a browser sends by itself when it connects again: the id of the last event it has seen. */
export const LAST_EVENT_ID = 'Last-Event-ID'
export const lastEventId = z.object({ [LAST_EVENT_ID]: queryInt })

export type EventsQuery = z.infer<typeof eventsQuery>
