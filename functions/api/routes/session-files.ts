import {
  fileAppendAnswer,
  fileAppendQuery,
  rawQuery,
  sessionFiles,
  sessionParams,
  sessionQuery,
} from '#schema'
import { release, soundBytes } from '#store'
import { answerJson } from '../answer.ts'
import { answerRanged } from '../answer-ranged.ts'
import { defineRoute, type Route } from '../route.ts'
import { nameOf, SESSION_PATH, sessionOf } from '../session-of.ts'

const BYTES = 'application/octet-stream'

const append = defineRoute({
  method: 'POST',
  path: `${SESSION_PATH}/files`,
  about: "Appends bytes to a generation of a session's file, or begins the next one at offset 0",
  need: 'append',
  feature: 'sessions',
  params: sessionParams,
  query: fileAppendQuery,
  bytes: [BYTES],
  answers: [{ status: 200, about: 'The bytes are durable', schema: fileAppendAnswer }],
  problems: [
    'bad_request',
    'unauthorized',
    'forbidden',
    'offset_conflict',
    'overlap',
    'gap',
    'too_large',
    'unsupported_media_type',
  ],
  handle: async (call) => {
    const { path, generation, offset } = call.query
    const request = { path, generation, offset, bytes: call.bytes }
    const appended = await call.parts.sessions.append(await sessionOf(call), request)
    release(call.bytes) // request after request would else wait for the collector
    return answerJson(appended)
  },
})

const list = defineRoute({
  method: 'GET',
  path: `${SESSION_PATH}/files`,
  about: 'Every generation of every file of a session',
  need: 'read',
  feature: 'sessions',
  params: sessionParams,
  query: sessionQuery,
  answers: [{ status: 200, about: 'The files', schema: sessionFiles }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => answerJson(await call.parts.sessions.files(await sessionOf(call))),
})

const download = defineRoute({
  method: 'GET',
  path: `${SESSION_PATH}/files/raw`,
  about: 'The verbatim bytes of a generation of a file, whole or a range of them',
  need: 'resume',
  feature: 'sessions',
  head: true,
  params: sessionParams,
  query: rawQuery,
  answers: [
    { status: 200, about: 'All bytes', types: [BYTES], headers: ['ETag', 'Content-Disposition'] },
    { status: 206, about: 'The range', types: [BYTES], headers: ['ETag', 'Content-Range'] },
    { status: 304, about: 'It is as the If-None-Match says' },
  ],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'range_not_satisfiable', 'too_large'],
  handle: async (call) => {
    const { path, generation } = call.query
    const session = await sessionOf(call)
    if (!call.head) call.audit('session.read', nameOf(session))
    const file = await call.parts.sessions.raw(session, path, generation)
    const { tail, digest } = file
    return answerRanged(call, {
      length: tail,
      digest,
      type: BYTES,
      fileName: path.slice(path.lastIndexOf('/') + 1),
      bytes: (range) =>
        range
          ? file.bytes(range.start, range.end)
          : soundBytes({ head: { tail, digest }, bytes: file.bytes }),
    })
  },
})

export const sessionFilesRoutes: readonly Route[] = [append, list, download]
