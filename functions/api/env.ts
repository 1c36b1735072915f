import type { Refusal } from './answer-error.ts'
import type { RequestEvent } from './parts.ts'

/** What Hono carries with a request. */
export interface Env {
  Bindings: {
    /** The request target as it came on the wire. */
    readonly target?: string
    /** The address of the other end. */
    readonly peer?: string
    /** What the platform calls this request. @default a number of our own */
    readonly requestId?: string
    /** How many bytes of the answer have left this process, where that can be known (sent-bytes.ts). */
    readonly sent?: () => number
    /** How long the platform lets this answer take, ms; a stream asks its reader to connect again before that. */
    readonly answerMs?: number
  }
  Variables: {
    request_id: string
    /** What is known for the log so far. */
    seen?: Partial<RequestEvent> & { refusal?: Refusal }
  }
}
