import type { Hono } from 'hono'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { MEASURES, type Tally } from '../measures.ts'
import { tallyProblem } from '../observed.ts'
import type { Env } from './env.ts'
import type { RequestEvent } from './parts.ts'

export interface Metrics {
  request(event: RequestEvent): void
  /** `inc` and `dec` around every request. */
  readonly open: Gauge
  /** Of MEASURES. */
  readonly tally: Tally
  /** Prometheus text. */
  page(): Promise<Response>
}

export function createMetrics(): Metrics {
  const registers = [new Registry()]
  const [registry] = registers as [Registry]
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'runfold_request_seconds',
    help: 'Time from a request to the head of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const problems = new Counter({
    name: 'runfold_problems_total',
    help: 'Refusals by code',
    labelNames: ['code'],
    registers,
  })
  const bytesIn = new Counter({
    name: 'runfold_body_bytes_total',
    help: 'Decoded bytes of request bodies',
    registers,
  })
  const open = new Gauge({
    name: 'runfold_open_requests',
    help: 'Requests that are not answered yet',
    registers,
  })
  const tally = tallyIn(registers)
  return {
    open,
    tally,
    request: ({ method, route = 'none', status, code, bytes_in, ms }) => {
      seconds.observe({ method, route, status }, ms / 1000)
      if (code) problems.inc({ code })
      tallyProblem(code, tally)
      bytesIn.inc(bytes_in)
    },
    page: async () =>
      new Response(await registry.metrics(), {
        headers: { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' },
      }),
  }
}

/** A counter for each sum, a gauge for each level. */
function tallyIn(registers: Registry[]): Tally {
  const shown = Object.entries(MEASURES).map(([name, { kind, about: help }]) => {
    const stem = `runfold_${name.replaceAll(/(?<!^)[A-Z]/g, '_$&').toLowerCase()}`
    if (kind === 'level') return [name, new Gauge({ name: stem, help, registers })] as const
    return [name, new Counter({ name: `${stem}_total`, help, registers })] as const
  })
  const of = new Map<string, Counter | Gauge>(shown)
  return (name, value) => {
    const metric = of.get(name)
    if (metric instanceof Gauge) metric.set(value)
    else metric?.inc(value)
  }
}

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/

/** What a proxy says of the caller it speaks for. */
const SENT_ON = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/**
 * `GET /metrics` is for this machine's own collector: it takes no token and answers no other peer, nor a proxy on this machine
 * that asks for somebody else.
 */
export function metricsRoute(app: Hono<Env>, metrics: Metrics): void {
  app.get('/metrics', (c) => {
    const isOurs = LOOPBACK.test(c.env.peer ?? '') && SENT_ON.every((name) => !c.req.raw.headers.has(name))
    return isOurs ? metrics.page() : c.notFound()
  })
}
