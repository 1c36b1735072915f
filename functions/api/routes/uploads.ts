import * as z from 'zod'
import {
  appendAnswer,
  completeRequest,
  partParams,
  partPath,
  partQuery,
  RunfoldError,
  runId,
  uploadAnswer,
  uploadId,
  uploadRequest,
} from '#schema'
import { type OwnParts, release } from '#store'
import { answerJson, answerNothing } from '../answer.ts'
import { ANY_TYPE } from '../body.ts'
import type { Parts } from '../parts.ts'
import { defineRoute, type Route, runOf } from '../route.ts'
import { APPEND_PROBLEMS } from './frames.ts'

const path = '/v1/runs/{run_id}/uploads'
const params = z.object({ run_id: runId, upload_id: uploadId })

const open = defineRoute({
  method: 'POST',
  path,
  about: 'Opens a direct upload of a batch: URLs that take its parts, for 15 minutes',
  need: 'append',
  feature: 'uploads',
  params: z.object({ run_id: runId }),
  json: uploadRequest,
  answers: [{ status: 201, about: 'PUT each range of the batch to its URL', schema: uploadAnswer }],
  problems: [
    'bad_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'gap',
    'fenced',
    'too_large',
    'unsupported_media_type',
  ],
  handle: async (call) => {
    const answer = await call.parts.archive.openUpload(runOf(call), call.body)
    return answerJson(answer, { status: 201 })
  },
})

const complete = defineRoute({
  method: 'POST',
  path: `${path}/{upload_id}/complete`,
  about:
    'Appends what was uploaded, after its frames and its digest were checked; the same again is answered again',
  need: 'append',
  feature: 'uploads',
  params,
  json: completeRequest,
  answers: [{ status: 200, about: 'The bytes are durable', schema: appendAnswer }],
  problems: APPEND_PROBLEMS,
  handle: async (call) => {
    const { upload_id } = call.params
    return answerJson(await call.parts.archive.completeUpload(runOf(call), upload_id, call.body))
  },
})

const abort = defineRoute({
  method: 'DELETE',
  path: `${path}/{upload_id}`,
  about: 'Gives an upload up; what it has appended already stays',
  need: 'append',
  feature: 'uploads',
  params,
  answers: [{ status: 204, about: 'Nothing is left of it' }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => {
    await call.parts.archive.abortUpload(runOf(call), call.params.upload_id)
    return answerNothing(204)
  },
})

/** Only the URL is needed: whoever was given it may send these bytes, as with a storage service of its own. */
const put = defineRoute({
  method: 'PUT',
  path: partPath('{storage_id}', '{part_number}'),
  about:
    'Takes a part of an upload, where the server keeps parts itself; the whole URL is given when it is opened',
  need: 'nothing',
  feature: 'uploads',
  params: partParams,
  query: partQuery,
  bytes: [ANY_TYPE],
  maxBytes: ({ archive }) => archive.ports.uploads.maxPartBytes,
  answers: [{ status: 200, about: 'The part is stored', headers: ['ETag'] }],
  problems: ['bad_request', 'forbidden', 'not_found', 'too_large', 'unsupported_media_type'],
  admit: ({ parts, params, query }) => ownParts(parts).check({ ...params, ...query }),
  handle: async ({ parts, params, query, bytes }) => {
    const etag = await ownParts(parts).put({ ...params, ...query }, bytes)
    release(bytes) // part after part would else wait for the collector
    return new Response(null, { status: 200, headers: { ETag: etag, 'Cache-Control': 'no-store' } })
  },
})

function ownParts({ archive }: Parts): OwnParts {
  const { own } = archive.ports.uploads
  if (own) return own
  throw new RunfoldError('not_found', 'parts go straight to the storage here')
}

export const uploadsRoutes: readonly Route[] = [open, complete, abort, put]
