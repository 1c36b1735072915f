import * as z from 'zod'
import { listAnswer, listQuery, removeQuery, runAnswer, runId } from '#schema'
import { answerJson, answerNothing } from '../answer.ts'
import { noneMatch } from '../etag.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const path = '/v1/runs/{run_id}'
const params = z.object({ run_id: runId })

const list = defineRoute({
  method: 'GET',
  path: '/v1/runs',
  about: 'The runs, as cards',
  need: 'read',
  query: listQuery,
  answers: [{ status: 200, about: 'A page', schema: listAnswer }],
  problems: ['bad_request', 'unauthorized', 'forbidden'],
  handle: async ({ parts, principal, query }) => {
    const { tenant, run_prefix } = principal
    return answerJson(await parts.archive.list(tenant, query, run_prefix === null ? {} : { run_prefix }))
  },
})

const show = defineRoute({
  method: 'GET',
  path,
  about: 'One run: its card, and how much of it is stored',
  need: 'read',
  head: true,
  params,
  answers: [
    {
      status: 200,
      about: 'The run',
      schema: runAnswer,
      headers: ['ETag', 'Runfold-Tail', 'Runfold-Frames', 'Runfold-Digest', 'Runfold-Epoch'],
    },
    { status: 304, about: 'It is as the If-None-Match says' },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => {
    const { answer, etag } = await call.parts.archive.run(runOf(call))
    const headers = {
      ETag: etag,
      'Runfold-Tail': String(answer.tail),
      'Runfold-Frames': String(answer.frames),
      'Runfold-Digest': answer.digest,
      'Runfold-Epoch': String(answer.epoch),
    }
    if (noneMatch(call.headers.get('if-none-match'), etag)) return answerNothing(304, headers)
    return answerJson(answer, { headers })
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path,
  about: 'Deletes the run; under a live lease only with `force=true`',
  need: 'admin',
  params,
  query: removeQuery,
  answers: [{ status: 204, about: 'Deleted' }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'lease_held'],
  handle: async (call) => {
    call.audit('run.delete')
    await call.parts.archive.remove(runOf(call), { force: call.query.force ?? false })
    return answerNothing(204)
  },
})

export const runsRoutes: readonly Route[] = [list, show, remove]
