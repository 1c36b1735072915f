import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { areSessionsLost, createSessionArchive, createSessionMaintainer } from '#sessions/archive'
import {
  createArchive,
  createMaintainer,
  createTokens,
  isIndexLost,
  type StorePorts,
  systemClock,
} from '#store'
import type { ServerEnv } from '../env.ts'
import { observedArchive, observedPorts, tallyFold, tallyVisit } from '../observed.ts'
import { retentionOf } from '../retention.ts'
import { type AdminToken, adminToken } from './admin-token.ts'
import { answerError, refusalOf } from './answer-error.ts'
import { createApp } from './app.ts'
import { keepDoing } from './background.ts'
import { FEATURES_OFFERED } from './features.ts'
import { createHostCheck } from './host-check.ts'
import { badRequest } from './issues.ts'
import { LOCAL_LIMITS } from './limits.ts'
import type { Log } from './log.ts'
import { createLogin, type Login } from './login.ts'
import { createMetrics, metricsRoute } from './metrics.ts'
import { countSent, type Outgoing } from './sent-bytes.ts'
import { answerUnparsed } from './unparsed.ts'
import { VERSION } from './version.ts'
import { viewerFiles } from './viewer/files.ts'
import { viewerRoutes } from './viewer/routes.ts'

/** Of Node's own request, what a web request does not tell. */
interface Incoming {
  readonly url?: string | undefined
  readonly socket: { readonly remoteAddress?: string | undefined }
}
type Fetch = (request: Request, env: { incoming: Incoming; outgoing: Outgoing }) => Promise<Response>
type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** What only the shells know: where bytes are kept, and how Node's requests become web requests. */
export interface Platform {
  openStore(env: ServerEnv, log: Log): Promise<OpenStore>
  listener(fetch: Fetch, options: { errorHandler(error: unknown): Response }): Listener
}

/** A store that this process has open. */
export interface OpenStore {
  readonly ports: StorePorts
  /** For people. */
  readonly place: string
  /** Resolves with the reason when what was written can no longer be trusted to be durable: the process must end. */
  readonly broken: Promise<unknown>
  close(): void
}

export interface Running {
  readonly url: string
  /** Where runs are kept. */
  readonly place: string
  readonly data: string
  readonly token: AdminToken
  readonly login: Login
  /** Settles when the storage can no longer be trusted; the process must end then. */
  readonly broken: Promise<unknown>
  /** Answers what has begun, then lets go of the data folder. */
  stop(): Promise<void>
}

const MAINTAIN_EVERY_MS = 1000
/** How long requests in flight may take to end before their connections are cut. */
const STOP_WITHIN_MS = 10_000

/**
 * Slow is allowed, endless is not: a head must come within 30 s, a whole request within 15 minutes (8 MiB at 10 kB/s).
 * A kept-alive connection outlives the pauses of the usual pools.
 */
const HTTP_BOUNDS = {
  maxHeaderSize: 16 << 10,
  headersTimeout: 30_000,
  requestTimeout: 900_000,
  keepAliveTimeout: 65_000,
  requireHostHeader: false, // without one there is no request; `errorHandler` says so in a problem
}
const MAX_CONNECTIONS = 2000

export async function startServer(platform: Platform, env: ServerEnv, log: Log): Promise<Running> {
  const store = await platform.openStore(env, log)
  const closing = new AbortController()
  try {
    if ((await isIndexLost(store.ports)) || (await areSessionsLost(store))) throw lostIndex(store.place)
    const token = await adminToken(env.data, env.adminToken)
    const tokens = createTokens(store.ports.tokens, systemClock)
    await tokens.install(token.text)
    const login = createLogin({ tokens, maker: () => tokens.check(token.text), clock: systemClock })
    const checkHost = createHostCheck(env.host, [hostname()])
    const metrics = createMetrics()
    const ports = observedPorts(store.ports, metrics.tally)
    const sessions = createSessionArchive(ports, {
      clock: systemClock,
      limits: LOCAL_LIMITS,
      failed: (_session, error) => log.warn('a document was not derived; the next look tries again', error),
    })
    const archive = createArchive(ports, {
      clock: systemClock,
      limits: LOCAL_LIMITS,
      folded: tallyFold(metrics.tally),
    })
    const app = createApp({
      archive: observedArchive(archive, metrics.tally),
      sessions,
      tokens,
      clock: systemClock,
      limits: LOCAL_LIMITS,
      features: FEATURES_OFFERED,
      version: VERSION,
      login,
      closing: closing.signal,
      admit: (headers) => checkHost(headers.get('host')),
      observe: (event) => {
        metrics.request(event)
        log.request(event)
      },
    })
    metricsRoute(app, metrics)
    viewerRoutes(app, viewerFiles)
    const fetch: Fetch = async (request, { incoming, outgoing }) => {
      const { url = '', socket } = incoming
      return app.fetch(request, { target: url, peer: socket.remoteAddress ?? '', sent: countSent(outgoing) })
    }
    const server = createServer(HTTP_BOUNDS, platform.listener(fetch, { errorHandler }))
    server.maxConnections = MAX_CONNECTIONS
    answerUnparsed(server)
    await listening(server, env)
    const maintainers = [
      createMaintainer(ports, systemClock, {
        ...retentionOf(env.retentionDays),
        observe: (visit) => tallyVisit(visit, metrics.tally),
      }),
      createSessionMaintainer(sessions),
    ]
    const maintained = maintain(maintainers, closing.signal, (error) => {
      metrics.tally('MaintenanceFailures', 1)
      log.warn('a round of maintenance failed; the next one tries again', error)
    })
    const stop = async () => {
      closing.abort()
      await Promise.all([closed(server), maintained])
      store.close()
    }
    const { place, broken } = store
    return { url: urlOf(server), place, data: env.data, token, login, broken, stop }
  } catch (error) {
    store.close()
    throw error
  }
}

const lostIndex = (place: string) =>
  new Error(
    `runs or sessions are stored in ${place}, but its index knows none: restore the index, or run \`runfold rebuild\``,
  )

/** What no request can be made of: a target or a Host that is none. */
const errorHandler = (error: unknown) =>
  answerError(
    error instanceof Error && error.name === 'RequestError'
      ? badRequest([{ path: '', message: 'the request target or its Host is malformed' }])
      : refusalOf(error).error,
    crypto.randomUUID(),
  )

/** Runs and sessions each in a loop of their own, so that neither waits for the other. */
async function maintain(
  maintainers: readonly { pass(): Promise<void> }[],
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<void> {
  const loop = { everyMs: MAINTAIN_EVERY_MS, clock: systemClock, signal, failed }
  await Promise.all(maintainers.map((maintainer) => keepDoing(() => maintainer.pass(), loop)))
}

const listening = (server: Server, { port, host }: ServerEnv) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })

/** Connections that were busy become idle as their requests end, so they are looked at until none is left. */
const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), 50)
    const late = setTimeout(() => server.closeAllConnections(), STOP_WITHIN_MS)
    server.close(() => {
      clearInterval(idle)
      clearTimeout(late)
      resolve()
    })
  })

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
