import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { presignedFault } from './presigned.ts'
import { SECRET_ACCESS_KEY } from './stand-ins.ts'

// Stands between an SDK client and a stand-in and does what networks and services do: after or before a request took
// effect, whole or in part. It also judges presigned URLs, which fauxqs takes whatever they say.

export const FAULTS = [
  'drop_answer', // it took effect, the connection breaks
  'drop_request', // it never arrives, the connection breaks
  'cut_request', // the connection breaks within its body
  'cut_answer', // it took effect, the connection breaks within the answer
  'error_before', // 500, nothing happened
  'error_after', // 500, it took effect
  'slow_down', // 503 SlowDown, or DynamoDB's throttling
  'conflict', // 409
  'duplicate', // it arrives twice, the second answer counts
  'delay', // it arrives later than what was sent after it
] as const

export type Fault = (typeof FAULTS)[number]

/** `operation` is DynamoDB's own name, or for S3 the method with the names of the query: `PUT partNumber uploadId`. */
interface SeenRequest {
  readonly operation: string
  readonly path: string
  /** 0-based number of the request. */
  readonly n: number
}

export type ChooseFault = (seen: SeenRequest) => Fault | undefined | Promise<Fault | undefined>

export interface FaultProxy {
  readonly endpoint: string
  /** How often each fault was done, and each operation asked for. */
  readonly faults: ReadonlyMap<Fault, number>
  readonly operations: ReadonlyMap<string, number>
  stop(): Promise<void>
}

const DELAY_MS = 20

/** @param now for the expiry of presigned URLs */
export async function startFaultProxy(
  target: string,
  choose: ChooseFault,
  now: () => number = Date.now,
): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true })
  const faults = new Map<Fault, number>()
  const operations = new Map<string, number>()
  let n = 0

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const asked: Asked = { target, agent, incoming, body: await buffer(incoming) }
    const seen = { operation: operationOf(incoming), path: incoming.url ?? '/', n: n++ }
    count(operations, seen.operation)
    const denied = presignedFault(incoming, SECRET_ACCESS_KEY, now())
    if (denied) return reply(outgoing, refusal(asked, 403, denied))
    const fault = await choose(seen)
    if (fault) count(faults, fault)
    await (fault ? MISCHIEF[fault] : honest)(asked, outgoing)
  }
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    operations,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      agent.destroy()
    },
  }
}

/**
 * A share `rate` of the requests gets a fault; the same seed gives the same faults to the same order of requests. They are
 * dealt like cards, so that few requests meet every kind, too.
 */
export function seededFaults(seed: number, rate: number, of: readonly Fault[] = FAULTS): ChooseFault {
  const random = mulberry32(seed)
  let deck: Fault[] = []
  return () => {
    if (random() >= rate) return undefined
    if (deck.length === 0) deck = [...of]
    return deck.splice(Math.floor(random() * deck.length), 1)[0]
  }
}

interface Asked {
  readonly target: string
  readonly agent: Agent
  readonly incoming: IncomingMessage
  readonly body: Buffer
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

async function forward({ target, agent, incoming, body }: Asked): Promise<Answer> {
  const { method, headers, url = '/' } = incoming
  const asking = request(new URL(url, target), { method, headers, agent })
  asking.end(body)
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 500, headers: answer.headers, body: await buffer(answer) }
}

function reply(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, headers).end(body)
}

const honest = async (asked: Asked, outgoing: ServerResponse) => reply(outgoing, await forward(asked))

const refusal = (asked: Asked, status: number, code: string): Answer => {
  if (isDynamo(asked)) {
    const body = Buffer.from(
      JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message: code }),
    )
    return { status, headers: { 'content-type': 'application/x-amz-json-1.0' }, body }
  }
  const body = Buffer.from(
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
  )
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: isHead(asked) ? Buffer.alloc(0) : body,
  }
}

const isDynamo = ({ incoming }: Asked) => incoming.headers['x-amz-target'] !== undefined
const isHead = ({ incoming }: Asked) => incoming.method === 'HEAD'
const breakOff = ({ incoming }: Asked) => void incoming.socket.destroy()

const MISCHIEF: Record<Fault, (asked: Asked, outgoing: ServerResponse) => Promise<void>> = {
  drop_answer: async (asked) => {
    await forward(asked)
    breakOff(asked)
  },
  drop_request: async (asked) => breakOff(asked),
  cut_request: async (asked) => {
    // dynalite ends the process over a request that breaks off, so for it nothing arrives.
    if (isDynamo(asked)) return breakOff(asked)
    const { method, headers, url = '/' } = asked.incoming
    const cut = request(new URL(url, asked.target), { method, headers })
    cut.on('error', () => {})
    await new Promise<void>((sent) => cut.write(asked.body.subarray(0, asked.body.length / 2), () => sent()))
    cut.destroy()
    breakOff(asked)
  },
  cut_answer: async (asked, outgoing) => {
    const { status, headers, body } = await forward(asked)
    const announced = { ...headers, 'content-length': String(body.length) }
    if (body.length > 1) {
      outgoing.writeHead(status, announced)
      await new Promise<void>((sent) => outgoing.write(body.subarray(0, body.length / 2), () => sent()))
    }
    breakOff(asked)
  },
  error_before: async (asked, outgoing) => reply(outgoing, refusal(asked, 500, 'InternalServerError')),
  error_after: async (asked, outgoing) => {
    await forward(asked)
    reply(outgoing, refusal(asked, 500, 'InternalServerError'))
  },
  slow_down: async (asked, outgoing) => {
    reply(
      outgoing,
      isDynamo(asked) ? refusal(asked, 400, 'ThrottlingException') : refusal(asked, 503, 'SlowDown'),
    )
  },
  conflict: async (asked, outgoing) => reply(outgoing, refusal(asked, 409, 'ConditionalRequestConflict')),
  duplicate: async (asked, outgoing) => {
    await forward(asked)
    await honest(asked, outgoing)
  },
  delay: async (asked, outgoing) => {
    await sleep(DELAY_MS)
    await honest(asked, outgoing)
  },
}

function operationOf({ headers, method = '', url = '/' }: IncomingMessage): string {
  const target = headers['x-amz-target']
  if (typeof target === 'string') return target.slice(target.indexOf('.') + 1)
  const names = [...new URL(url, 'http://s3').searchParams.keys()].filter(
    (name) => !/^x-(id$|amz-)/i.test(name),
  )
  return [method, ...names.sort()].join(' ')
}

const count = <K>(counts: Map<K, number>, key: K) => counts.set(key, (counts.get(key) ?? 0) + 1)

/** A small known generator; good enough to choose faults by. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
