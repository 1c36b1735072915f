import * as z from 'zod'
import {
  documentQuery,
  sessionDocument,
  sessionParams,
  sessionQuery,
  sessionsAnswer,
  sessionsQuery,
  sessionVerifyAnswer,
} from '#schema'
import { answerJson, answerNothing } from '../answer.ts'
import { answerRanged } from '../answer-ranged.ts'
import { requireNoPrefix } from '../auth.ts'
import { defineRoute, type Route } from '../route.ts'
import { nameOf, SESSION_PATH, sessionOf } from '../session-of.ts'

const list = defineRoute({
  method: 'GET',
  path: '/v1/sessions',
  about: 'The catalog of sessions, the newest first',
  need: 'read',
  feature: 'sessions',
  query: sessionsQuery,
  answers: [{ status: 200, about: 'A page', schema: sessionsAnswer }],
  problems: ['bad_request', 'unauthorized', 'forbidden'],
  handle: async ({ parts, principal, query }) => {
    requireNoPrefix(principal)
    return answerJson(await parts.sessions.list(principal.tenant, query))
  },
})

const show = defineRoute({
  method: 'GET',
  path: SESSION_PATH,
  about: 'The canonical document of a session, or with `agent=` of one of its sub-agents, byte for byte',
  need: 'read',
  feature: 'sessions',
  head: true,
  params: sessionParams,
  query: documentQuery,
  answers: [
    { status: 200, about: 'The document', schema: sessionDocument, headers: ['ETag'] },
    { status: 206, about: 'The range', types: ['application/json'], headers: ['ETag', 'Content-Range'] },
    { status: 304, about: 'It is as the If-None-Match says' },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'range_not_satisfiable', 'too_large'],
  handle: async (call) => {
    const { agent } = call.query
    const session = await sessionOf(call)
    const { bytes, sha256, body } = await call.parts.sessions.document(session, agent)
    return answerRanged(call, {
      length: bytes,
      digest: sha256,
      type: 'application/json',
      fileName: `${[session.id, agent].filter(Boolean).join('.')}.json`,
      bytes: ({ start, end } = { start: 0, end: bytes }) => body(start, end),
    })
  },
})

const verify = defineRoute({
  method: 'POST',
  path: `${SESSION_PATH}/verify`,
  about:
    'Reads every stored byte of a session again, tells what is damaged, and makes damaged documents anew',
  need: 'read',
  feature: 'sessions',
  params: sessionParams,
  query: sessionQuery,
  json: z.strictObject({}),
  bodyless: true,
  answers: [{ status: 200, about: 'What was found', schema: sessionVerifyAnswer }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'too_large', 'unsupported_media_type'],
  handle: async (call) => answerJson(await call.parts.sessions.verify(await sessionOf(call))),
})

const remove = defineRoute({
  method: 'DELETE',
  path: SESSION_PATH,
  about: 'Deletes a session: every generation of every file, and all that was derived',
  need: 'admin',
  feature: 'sessions',
  params: sessionParams,
  query: sessionQuery,
  answers: [{ status: 204, about: 'Deleted' }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => {
    const session = await sessionOf(call)
    call.audit('session.delete', nameOf(session))
    await call.parts.sessions.remove(session)
    return answerNothing(204)
  },
})

export const sessionsRoutes: readonly Route[] = [list, show, verify, remove]
