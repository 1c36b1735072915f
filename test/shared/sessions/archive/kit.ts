import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { jsonText, parseJson } from '#codec'
import type { SessionKey } from '#schema'
import { type Counters, deriveEntry, deriveTranscript, type SessionFiles } from '#sessions'
import {
  createSessionArchive,
  createSessionMaintainer,
  type FileAppend,
  type SessionArchive,
} from '#sessions/archive'
import type { SessionHead, StorePorts } from '#store'
import { openLocalStore } from '#store/local'
import { memoryPorts } from '#store/memory'
import { type ManualClock, manualClock } from '../../../kit/manual-clock.ts'
import { portsOf, startStandIns } from '../../../kit/stand-ins.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'

export const utf8 = (text: string) => new TextEncoder().encode(text)
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return new Uint8Array(Buffer.concat(all))
}

export const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** The same thing, but for the methods that are given; those find the others behind `real`. */
export function altered<T extends object>(real: T, methods: Partial<T>): T {
  return new Proxy(real, {
    get: (target, name) => {
      const found = methods[name as keyof T] ?? target[name as keyof T]
      return typeof found === 'function' && !(name in methods) ? found.bind(target) : found
    },
  })
}

export interface Opened {
  readonly ports: StorePorts
  readonly clock: ManualClock
}

let count = 0
const HOUR = 3_600_000

/** One session of one test, on an archive of its own over a store that all tests of a suite share. */
export class Fixture {
  readonly ports: StorePorts
  readonly clock: ManualClock
  readonly archive: SessionArchive
  readonly session: SessionKey
  /** Of every derivation since it was last emptied. */
  work: Counters[] = []

  constructor({ ports, clock }: Opened, more: Partial<SessionKey> = {}) {
    this.ports = ports
    this.clock = clock
    this.session = {
      tenant: `t${process.pid}-${++count}`,
      machine: 'box',
      harness: 'claude-code',
      id: 'sid',
      ...more,
    }
    this.archive = this.fresh()
  }

  /** As another process would have it. */
  fresh(ports: Partial<StorePorts> = {}): SessionArchive {
    return createSessionArchive(
      { ...this.ports, ...ports },
      {
        clock: this.clock,
        limits: { max_batch_bytes: 8 << 20 },
        observe: (_session, work) => this.work.push(work),
      },
    )
  }

  append(path: string, text: string | Uint8Array, more: Partial<FileAppend> = {}, archive = this.archive) {
    const bytes = typeof text === 'string' ? utf8(text) : text
    return archive.append(this.session, { path, generation: 1, offset: 0, bytes, ...more })
  }

  /** At the tail of the newest generation. */
  async add(path: string, text: string | Uint8Array, archive = this.archive) {
    const { tail, generation } = await archive.raw(this.session, path)
    return this.append(path, text, { offset: tail, generation }, archive)
  }

  async raw(path: string, generation?: number): Promise<string> {
    const file = await this.archive.raw(this.session, path, generation)
    return Buffer.from(await collected(file.bytes(0, file.tail))).toString()
  }

  async document(agent?: string, archive = this.fresh()): Promise<Uint8Array> {
    const document = await archive.document(this.session, agent)
    const bytes = await collected(document.body(0, document.bytes))
    expect(sha256(bytes)).toBe(document.sha256)
    return bytes
  }

  async messages(): Promise<Record<string, unknown>[]> {
    return JSON.parse(Buffer.from(await this.document()).toString()).messages
  }

  async entry(archive = this.fresh()) {
    const { items } = await archive.list(this.session.tenant, { limit: 200 })
    return items.find(({ id, machine }) => id === this.session.id && machine === this.session.machine)
  }

  async head(): Promise<SessionHead> {
    return (await this.ports.sessions.head(this.session)) as SessionHead
  }

  /** Document and entry are those of a full derivation of the stored bytes (SESSIONS.md 6, "exact"). */
  async exact(agent?: string): Promise<void> {
    const { harness, id } = this.session
    const files = await this.#files(this.session)
    const ancestor = (other: string) => this.#files({ ...this.session, id: other }).catch(() => undefined)
    const full = await deriveTranscript({ harness, id, agent, files, ancestor })
    const want = Buffer.from(await collected(full.document)).toString()
    expect(Buffer.from(await this.document(agent)).toString()).toBe(want)
    if (agent !== undefined) return
    const entry = parseJson(utf8(jsonText(deriveEntry(full.outcome()))))
    expect(await this.entry()).toMatchObject({ ...(entry as object), file_count: files.list.length })
  }

  async #files(session: SessionKey): Promise<SessionFiles> {
    const rows = (await this.archive.files(session)).items.filter(({ current }) => current)
    const bytes = new Map<string, Uint8Array>()
    for (const { path } of rows) {
      const file = await this.archive.raw(session, path)
      bytes.set(path, await collected(file.bytes(0, file.tail)))
    }
    return {
      list: rows,
      async *read({ path }, from) {
        yield (bytes.get(path) as Uint8Array).subarray(from)
      },
    }
  }

  /** The work since the last look. */
  worked() {
    const sum = (name: keyof Counters) => this.work.reduce((total, work) => total + work[name], 0)
    const worked = { parsed: sum('records_parsed'), read: sum('raw_bytes_read') }
    this.work = []
    return worked
  }

  /** Maintenance of this session alone, as often as it is due. */
  async maintain(ports: Partial<StorePorts> = {}): Promise<void> {
    const name = JSON.stringify(this.session)
    const mine = (found: readonly SessionKey[]) =>
      found.filter((session) => JSON.stringify({ ...this.session, ...session }) === name)
    const sessions = altered(this.ports.sessions, {
      due: async (now) => mine(await this.ports.sessions.due(now, 1000)),
      everySession: async () => [],
    })
    const maintainer = createSessionMaintainer(this.fresh({ ...ports, sessions }), { graceMs: HOUR })
    for (let pass = 0; pass < 4; pass++) await maintainer.pass()
  }

  async keys(kind = ''): Promise<string[]> {
    const prefix = `sessions/${this.session.tenant}/`
    const found = await all(this.ports.objects.list(prefix))
    return found.map(({ key }) => key).filter((key) => key.includes(kind))
  }
}

type Tests = (open: (more?: Partial<SessionKey>) => Fixture) => void

/** The same tests on memory, on local files, and on S3 and DynamoDB stand-ins. */
export function onEveryStore(title: string, tests: Tests): void {
  const stores: Record<string, () => Promise<Opened & { close?(): unknown }>> = {
    memory: async () => {
      const clock = manualClock()
      return { clock, ports: memoryPorts(clock) }
    },
    local: async () => {
      const clock = manualClock(Date.now())
      const { ports, close } = await openLocalStore(temporaryFolder(), { clock })
      return { clock, ports, close }
    },
    'S3 and DynamoDB': async () => {
      const standIns = await startStandIns()
      const ports = portsOf(standIns)
      return {
        clock: manualClock(Date.now()),
        ports,
        close: async () => {
          ports.close()
          await standIns.stop()
        },
      }
    },
  }
  for (const [name, open] of Object.entries(stores)) {
    // Thousands of requests to stand-ins in this very process, on a busy machine.
    describe(`${title} on ${name}`, { timeout: 60_000 }, () => {
      let opened: Awaited<ReturnType<typeof open>>
      beforeAll(async () => {
        opened = await open()
      })
      afterAll(() => opened?.close?.())
      tests((more) => new Fixture(opened, more))
    })
  }
}
