import type * as z from 'zod'
import type {
  AcquireRequest,
  ClaimRequest,
  CompleteRequest,
  DeltaPoint,
  DiffAnswer,
  FoldAnswer,
  ForkRequest,
  FullPoint,
  LeaseAnswer,
  RecordItem,
  RenewRequest,
  SummaryPoint,
  TokenRequest,
  UploadRequest,
} from '../schema/index.ts'
import * as schema from '../schema/index.ts'
import { conforming, drained, readArchive, readEtag, readTail } from './answers.ts'
import { gzip } from './compress.ts'
import { followEvents } from './events.ts'
import { ndjson } from './lines.ts'
import { sessionMethods } from './sessions.ts'
import { type ClientOptions, createTransport, type QueryValue, type Request, readJson } from './transport.ts'

export interface Batch {
  readonly offset: number
  readonly epoch: number
  /** Whole frames; at offset 0 the preamble comes first. */
  readonly bytes: Uint8Array
}

export interface ByteSpan {
  readonly start: number
  /** exclusive */
  readonly end: number
}

export type Point = SummaryPoint | FullPoint | DeltaPoint

type QueryOf<S extends z.ZodType> = { readonly [name in keyof z.input<S>]?: QueryValue }

const NDJSON = { accept: 'application/x-ndjson' }

/** A method per route of API.md; see `createClient`. */
export type Client = ReturnType<typeof createClient>

/**
 * Speaks to one server. Every method rejects with RunfoldError: the server's refusal with its code and facts, or
 * `unavailable` when no answer came. Answers that steer a caller are checked against their schema; answers made of
 * records are parsed without loss and handed on.
 */
export const createClient = (options: ClientOptions) => {
  const transport = createTransport(options)
  const { signal, compress = gzip } = options

  const json = <T>(request: Request) =>
    transport.ask(request, async (answer) => (await readJson(answer)) as T)
  const checked = <S extends z.ZodType>(shape: S, request: Request): Promise<z.infer<S>> =>
    transport.ask(request, async (answer) => conforming(shape, await readJson(answer)))
  const nothing = (request: Request) => transport.ask(request, drained)
  async function* lines<T>(request: Request): AsyncGenerator<T> {
    yield* ndjson(await transport.open({ ...request, headers: NDJSON }), signal) as AsyncGenerator<T>
  }

  return {
    // Service
    health: () => checked(schema.healthAnswer, { path: ['health'], soon: 0 }),
    capabilities: () => checked(schema.capabilities, { path: ['capabilities'], soon: 0 }),

    // Lease. Asking again as the same worker gives the same epoch, so a lost answer may be asked for again.
    acquire: (run: string, request: AcquireRequest): Promise<LeaseAnswer> =>
      checked(schema.leaseAnswer, {
        method: 'POST',
        path: onRun(run, 'lease'),
        json: request,
        soon: request.wait_s ?? 0,
      }),
    /** A new run of the first frames of this one; asking again as the same worker gives the same answer. */
    fork: (run: string, request: ForkRequest): Promise<LeaseAnswer> =>
      checked(schema.leaseAnswer, { method: 'POST', path: onRun(run, 'fork'), json: request }),
    renew: (run: string, request: RenewRequest): Promise<LeaseAnswer> =>
      checked(schema.leaseAnswer, { method: 'PUT', path: onRun(run, 'lease'), json: request, soon: 0 }),
    release: (run: string, epoch: number, within?: AbortSignal) =>
      nothing({
        method: 'DELETE',
        path: onRun(run, 'lease'),
        query: { epoch },
        settledBy: ['fenced'],
        soon: 0,
        ...(within && { signal: within }),
      }),
    /** Any run that waits, or undefined. A lost answer leaves a run held by nobody until its lease ends: ask anew. */
    claim: (request: ClaimRequest): Promise<LeaseAnswer | undefined> =>
      transport.ask(
        { method: 'POST', path: ['claims'], json: request, repeatable: false, soon: request.wait_s ?? 0 },
        async (answer) =>
          answer.status === 204 ? undefined : conforming(schema.leaseAnswer, await readJson(answer)),
      ),
    leaseState: (run: string) => checked(schema.leaseState, { path: onRun(run, 'lease'), soon: 0 }),

    /** May be repeated at any age: the same bytes at the same offset are stored once (P3). */
    append: async (run: string, { offset, epoch, bytes }: Batch) => {
      const packed = transport.isNear ? undefined : await compress(bytes)
      return checked(schema.appendAnswer, {
        method: 'POST',
        path: onRun(run, 'frames'),
        query: { offset, epoch },
        body: packed?.bytes ?? bytes,
        headers: {
          'content-type': schema.LVR1_MEDIA_TYPE,
          ...(packed && { 'content-encoding': packed.encoding }),
        },
        soon: 0,
      })
    },

    // Direct uploads. One that is opened a second time for a lost answer expires by itself.
    openUpload: (run: string, request: UploadRequest) =>
      checked(schema.uploadAnswer, { method: 'POST', path: onRun(run, 'uploads'), json: request }),
    /** The ETag of a part that is stored now. */
    putPart: (url: string, bytes: Uint8Array): Promise<string> =>
      transport.ask({ method: 'PUT', signedUrl: url, body: bytes, soon: 0 }, readEtag),
    /** May be repeated like an append. */
    completeUpload: (run: string, id: string, request: CompleteRequest) =>
      checked(schema.appendAnswer, {
        method: 'POST',
        path: onRun(run, 'uploads', id, 'complete'),
        json: request,
      }),
    abortUpload: (run: string, id: string) => nothing({ method: 'DELETE', path: onRun(run, 'uploads', id) }),

    // Runs
    list: (query: QueryOf<typeof schema.listQuery> = {}) =>
      checked(schema.listAnswer, { path: ['runs'], query }),
    run: (run: string) => checked(schema.runAnswer, { path: onRun(run) }),
    tail: (run: string) => transport.ask({ method: 'HEAD', path: onRun(run), soon: 0 }, readTail),
    remove: (run: string, force = false) =>
      nothing({
        method: 'DELETE',
        path: onRun(run),
        query: { force: force || undefined },
        settledBy: ['not_found'],
      }),

    /** The verbatim bytes (scope `resume`), all or a span of them. */
    archive: async (run: string, span?: ByteSpan) => {
      const headers = span && { range: `bytes=${span.start}-${span.end - 1}` }
      const answer = await transport.open({ path: onRun(run, 'archive'), ...(headers && { headers }) })
      return readArchive(answer, span?.start ?? 0, signal)
    },

    // Reading
    records: (run: string, query: QueryOf<typeof schema.recordsQuery> = {}) =>
      json<z.infer<typeof schema.recordsAnswer>>({ path: onRun(run, 'records'), query }),
    /** One record as the server spelled it, to the character; empty where there is none. */
    recordText: (run: string, seq: number): Promise<string> =>
      transport.ask(
        { path: onRun(run, 'records'), query: { from: seq, to: seq + 1 }, headers: NDJSON },
        async (answer) => (await answer.text()).trimEnd(),
      ),
    recordLines: (run: string, query: QueryOf<typeof schema.recordsQuery> = {}) =>
      lines<RecordItem>({ path: onRun(run, 'records'), query }),
    /** The records from a frame boundary on, also those that come later; it ends only by an error. */
    follow: (run: string, offset: number, silentMs?: number) =>
      followEvents(transport, onRun(run, 'events'), {
        offset,
        signal,
        silentMs,
        sleep: options.retry?.sleep,
      }),
    usage: (run: string) => checked(schema.usageAnswer, { path: onRun(run, 'usage') }),
    fold: (run: string, query: QueryOf<typeof schema.foldQuery> = {}) =>
      json<FoldAnswer>({ path: onRun(run, 'fold'), query }),
    points: (run: string, query: QueryOf<typeof schema.pointsQuery> = {}) =>
      json<z.infer<typeof schema.pointsAnswer>>({ path: onRun(run, 'points'), query }),
    pointLines: (run: string, query: QueryOf<typeof schema.pointsQuery> = {}) =>
      lines<Point>({ path: onRun(run, 'points'), query }),
    point: (run: string, point: number) => json<FullPoint>({ path: onRun(run, 'points', String(point)) }),
    diff: (run: string, from: number, to: number) =>
      json<DiffAnswer>({ path: onRun(run, 'diff'), query: { from, to } }),
    verify: (run: string, query: QueryOf<typeof schema.verifyQuery> = {}) =>
      checked(schema.verifyAnswer, { method: 'POST', path: onRun(run, 'verify'), query }),

    /** A token for the one-time code of a local server's link, which no second attempt could use again. */
    login: (code: string) =>
      checked(schema.loginAnswer, { method: 'POST', path: ['login'], json: { code }, repeatable: false }),

    ...sessionMethods(transport, options),

    // Tokens. A second attempt after a lost answer would make a second token.
    makeToken: (request: TokenRequest) =>
      checked(schema.tokenMade, { method: 'POST', path: ['tokens'], json: request, repeatable: false }),
    tokens: () => checked(schema.tokenList, { path: ['tokens'] }),
    revokeToken: (id: string) =>
      nothing({ method: 'DELETE', path: ['tokens', id], settledBy: ['not_found'] }),
  }
}

const onRun = (run: string, ...rest: string[]): readonly string[] => ['runs', run, ...rest]
