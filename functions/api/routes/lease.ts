import * as z from 'zod'
import { acquireRequest, leaseAnswer, leaseState, queryInt, renewRequest, runId } from '#schema'
import { answerJson, answerNothing } from '../answer.ts'
import { requireScope } from '../auth.ts'
import { defineRoute, type Route, runOf } from '../route.ts'

const path = '/v1/runs/{run_id}/lease'
const params = z.object({ run_id: runId })

const acquire = defineRoute({
  method: 'POST',
  path,
  about: 'Takes the right to append; the first lease creates the run. `force` needs scope `resume`',
  need: 'append',
  params,
  json: acquireRequest,
  answers: [
    { status: 200, about: 'The lease', schema: leaseAnswer },
    { status: 201, about: 'The lease of a run that this created', schema: leaseAnswer },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'lease_held', 'too_large', 'unsupported_media_type'],
  handle: async (call) => {
    if (call.body.force) {
      call.audit('lease.force')
      requireScope(call.principal, 'resume')
    }
    const { created, answer } = await call.parts.archive.acquire(runOf(call), call.body, {
      signal: call.leaving(),
    })
    return answerJson(answer, { status: created ? 201 : 200 })
  },
})

const renew = defineRoute({
  method: 'PUT',
  path,
  about: 'Keeps the lease; the epoch stays',
  need: 'append',
  params,
  json: renewRequest,
  answers: [{ status: 200, about: 'The lease', schema: leaseAnswer }],
  problems: [
    'bad_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'fenced',
    'too_large',
    'unsupported_media_type',
  ],
  handle: async (call) => answerJson(await call.parts.archive.renew(runOf(call), call.body)),
})

const release = defineRoute({
  method: 'DELETE',
  path,
  about: 'Gives the lease back; an append with its epoch is then fenced',
  need: 'append',
  params,
  query: z.strictObject({ epoch: queryInt }),
  answers: [{ status: 204, about: 'Released' }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'fenced'],
  handle: async (call) => {
    await call.parts.archive.release(runOf(call), call.query.epoch)
    return answerNothing(204)
  },
})

const show = defineRoute({
  method: 'GET',
  path,
  about: 'Who holds the run, and who held it before',
  need: 'read',
  params,
  answers: [{ status: 200, about: 'The lease and its history, newest first', schema: leaseState }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => answerJson(await call.parts.archive.leaseState(runOf(call))),
})

export const leaseRoutes: readonly Route[] = [acquire, renew, release, show]
