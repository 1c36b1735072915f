import * as z from 'zod'
import { appendAnswer, appendQuery, FRAME_MEDIA_TYPES, type ProblemCode, runId } from '#schema'
import { answerJson } from '../answer.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

/** Why bytes are not appended, however they came. */
export const APPEND_PROBLEMS = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'offset_conflict',
  'overlap',
  'gap',
  'fenced',
  'too_large',
  'unsupported_media_type',
  'bad_frames',
] as const satisfies readonly ProblemCode[]

const append = defineRoute({
  method: 'POST',
  path: '/v1/runs/{run_id}/frames',
  about: 'Appends whole frames at an offset under an epoch; the same again is answered again',
  need: 'append',
  params: z.object({ run_id: runId }),
  query: appendQuery,
  bytes: FRAME_MEDIA_TYPES,
  answers: [{ status: 200, about: 'The bytes are durable', schema: appendAnswer }],
  problems: APPEND_PROBLEMS,
  handle: async (call) => {
    const { offset, epoch } = call.query
    return answerJson(await call.parts.archive.append(runOf(call), { offset, epoch, bytes: call.bytes }))
  },
})

export const framesRoutes: readonly Route[] = [append]
