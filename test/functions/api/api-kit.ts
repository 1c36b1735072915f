import { encodeFrame, PREAMBLE, parseJson } from '#codec'
import type { Scope } from '#schema'
import { createSessionArchive } from '#sessions/archive'
import { type Clock, createArchive, createTokens, type Principal } from '#store'
import { memoryPorts } from '#store/memory'
import { createApp } from '../../../functions/api/app.ts'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import type { Parts, RequestEvent } from '../../../functions/api/parts.ts'
import { plainHeader } from '../../kit/plain-header.ts'

/** A clock that moves when somebody sleeps, so that waits cost no time. */
function testClock(start = Date.UTC(2026, 10, 1)): Clock & { advance(ms: number): void } {
  let now = start
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms
      await Promise.resolve()
    },
    advance: (ms) => {
      now += ms
    },
  }
}

const ALL: Principal = {
  token_id: 'root',
  tenant: 'default',
  scopes: ['append', 'read', 'resume', 'admin', 'operator'],
  run_prefix: null,
  expires_at: null,
}

export const owner = { machine_id: 'm-1', world_id: 'w-1' }

/** The whole API on memory ports, and a client of every scope. */
export async function testApi(parts: Partial<Parts> = {}) {
  const clock = testClock()
  const ports = memoryPorts(clock)
  const events: RequestEvent[] = []
  const tokens = createTokens(ports.tokens, clock)
  const app = createApp({
    archive: createArchive(ports, { clock, limits: LOCAL_LIMITS }),
    sessions: createSessionArchive(ports, { clock, limits: LOCAL_LIMITS }),
    tokens,
    clock,
    limits: LOCAL_LIMITS,
    features: [],
    version: '0.0.0',
    observe: (event) => events.push(event),
    ...parts,
  })
  const token = (scopes: Scope[], more: { run_prefix?: string; tenant?: string; expires_at?: string } = {}) =>
    tokens.make(ALL, { name: 'test', scopes, ...more })
  const as = (text: string | null) => clientOf(app, text)
  const root = as((await token([...ALL.scopes])).token)
  return {
    app,
    clock,
    ports,
    events,
    as,
    root,
    withScopes: async (...scopes: Scope[]) => as((await token(scopes)).token),
    token,
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  readonly json: any
}

type App = ReturnType<typeof createApp>

function clientOf(app: App, token: string | null) {
  const send = async (
    method: string,
    path: string,
    init: { headers?: Record<string, string>; body?: unknown } = {},
  ) => {
    const headers = { ...(token !== null && { authorization: `Bearer ${token}` }), ...init.headers }
    const response = await app.request(
      new Request(`http://127.0.0.1${path}`, { method, headers, body: init.body as string }),
      undefined,
      { target: path },
    )
    return answerOf(response)
  }
  const json = (method: string) => (path: string, body: unknown) =>
    send(method, path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return {
    send,
    get: (path: string, headers: Record<string, string> = {}) => send('GET', path, { headers }),
    head: (path: string, headers: Record<string, string> = {}) => send('HEAD', path, { headers }),
    post: json('POST'),
    put: json('PUT'),
    delete: (path: string) => send('DELETE', path),
    append: (
      run: string,
      offset: number,
      epoch: number,
      body: Uint8Array,
      headers: Record<string, string> = {},
    ) =>
      send('POST', `/v1/runs/${run}/frames?offset=${offset}&epoch=${epoch}`, {
        headers: { 'content-type': 'application/vnd.runfold.lvr1', ...headers },
        body,
      }),
  }
}

export type TestClient = ReturnType<typeof clientOf>

async function answerOf(response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const text = new TextDecoder('latin1').decode(bytes)
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return parseJson(bytes)
    },
  }
}

export const frame = (payload: string) => encodeFrame(new TextEncoder().encode(payload))
export const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))
export { PREAMBLE }

export const SECRET = 'hush-hush-4711'

/** A Header that holds a secret. */
export const header = (run: string, meta: object = {}) =>
  frame(
    JSON.stringify(
      plainHeader(
        { run_id: run, agent_name: 'agent', task: 'task', callback_secret: SECRET, ...meta },
        { run_id: run },
      ),
    ),
  )

export const checkpoint = (at: number, entries: string[] = []) =>
  frame(
    JSON.stringify({
      ContextCheckpoint: {
        snapshot: {
          stage_name: 's',
          total_tokens: 1,
          max_tokens: 9,
          regions: [
            {
              name: 'r',
              kind: 'k',
              current_tokens: 1,
              max_tokens: 9,
              entries: entries.map((content) => ({ content, tokens: 1 })),
            },
          ],
        },
        at,
      },
    }),
  )

/** A run with a preamble, a Header and two checkpoints. */
export async function makeRun(client: TestClient, run: string) {
  const { epoch } = (await client.post(`/v1/runs/${run}/lease`, owner)).json
  const bytes = join(PREAMBLE, header(run), checkpoint(2, ['a']), checkpoint(3, ['a', 'b']))
  const ack = await client.append(run, 0, epoch, bytes)
  return { epoch, bytes, tail: bytes.length, ack, path: `/v1/runs/${run}` }
}
