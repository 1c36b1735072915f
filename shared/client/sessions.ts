import type * as z from 'zod'
import * as schema from '../schema/index.ts'
import { conforming, drained, readArchive } from './answers.ts'
import { type Compress, gzip } from './compress.ts'
import type { QueryValue, Transport } from './transport.ts'
import { readJson } from './transport.ts'

/** A session as a caller names it; without a machine it is the only one of that name. */
export interface SessionName {
  readonly harness: schema.Harness
  readonly id: string
  readonly machine?: string | undefined
}

/** Bytes for a generation of a file. */
export interface FileSlice {
  readonly path: string
  readonly generation: number
  readonly offset: number
  readonly bytes: Uint8Array
}

/** The methods of the session routes; createClient has them among its own. */
export const sessionMethods = (
  transport: Transport,
  { signal, compress = gzip }: { readonly signal?: AbortSignal; readonly compress?: Compress },
) => ({
  /** May be repeated at any age: the same bytes at the same offset are stored once. */
  appendFile: async (name: SessionName & { readonly machine: string }, slice: FileSlice) => {
    const { path, generation, offset, bytes } = slice
    const packed = transport.isNear ? undefined : await compress(bytes)
    return transport.ask(
      {
        method: 'POST',
        path: onSession(name, 'files'),
        query: { machine: name.machine, path, generation, offset },
        body: packed?.bytes ?? bytes,
        headers: {
          'content-type': 'application/octet-stream',
          ...(packed && { 'content-encoding': packed.encoding }),
        },
      },
      async (answer) => conforming(schema.fileAppendAnswer, await readJson(answer)),
    )
  },
  sessions: (query: { readonly [name in keyof z.input<typeof schema.sessionsQuery>]?: QueryValue } = {}) =>
    transport.ask({ path: ['sessions'], query }, async (answer) =>
      conforming(schema.sessionsAnswer, await readJson(answer)),
    ),
  sessionFiles: (name: SessionName) =>
    transport.ask({ path: onSession(name, 'files'), query: { machine: name.machine } }, async (answer) =>
      conforming(schema.sessionFiles, await readJson(answer)),
    ),
  /** The canonical document byte for byte as it comes, and its digest. */
  sessionDocument: async (name: SessionName, agent?: string) => {
    const query = { machine: name.machine, agent }
    const answer = await transport.open({ path: onSession(name), query })
    const sha256 = (answer.headers.get('etag') ?? '').replaceAll('"', '')
    return { sha256, chunks: readArchive(answer, 0, signal).chunks }
  },
  /** The verbatim bytes of a file from an offset on (scope `resume`); the newest generation where none is named. */
  sessionRaw: async (
    name: SessionName,
    { path, generation, from = 0 }: { path: string; generation?: number; from?: number },
  ) => {
    const query = { machine: name.machine, path, generation }
    const headers = from > 0 ? { range: `bytes=${from}-` } : undefined
    const answer = await transport.open({
      path: onSession(name, 'files', 'raw'),
      query,
      ...(headers && { headers }),
    })
    return readArchive(answer, from, signal)
  },
  /** Has the server read all of it again, and mend documents. */
  verifySession: (name: SessionName) =>
    transport.ask(
      { method: 'POST', path: onSession(name, 'verify'), query: { machine: name.machine } },
      async (answer) => conforming(schema.sessionVerifyAnswer, await readJson(answer)),
    ),
  removeSession: (name: SessionName) =>
    transport.ask(
      {
        method: 'DELETE',
        path: onSession(name),
        query: { machine: name.machine },
        settledBy: ['not_found'],
      },
      drained,
    ),
})

const onSession = ({ harness, id }: SessionName, ...rest: string[]): readonly string[] => [
  'sessions',
  harness,
  id,
  ...rest,
]
