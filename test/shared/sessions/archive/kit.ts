import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
import type { SessionKey } from '#schema'
import { createSessionArchive, type FileAppend, type SessionArchive } from '#sessions/archive'
import type { StorePorts } from '#store'
import { openLocalStore } from '#store/local'
import { memoryPorts } from '#store/memory'
import { type ManualClock, manualClock } from '../../../kit/manual-clock.ts'
import { portsOf, startStandIns } from '../../../kit/stand-ins.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'

export const utf8 = (text: string) => new TextEncoder().encode(text)
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

export async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return new Uint8Array(Buffer.concat(all))
}

export const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

export interface Opened {
  readonly ports: StorePorts
  readonly clock: ManualClock
}

let count = 0

/** One session of one test, on an archive of its own over a store that all tests of a suite share. */
export class Fixture {
  readonly ports: StorePorts
  readonly clock: ManualClock
  readonly archive: SessionArchive
  readonly session: SessionKey

  constructor({ ports, clock }: Opened, more: Partial<SessionKey> = {}) {
    this.ports = ports
    this.clock = clock
    this.session = { tenant: `t${++count}`, machine: 'box', harness: 'claude-code', id: 'sid', ...more }
    this.archive = this.fresh()
  }

  /** As another process would have it. */
  fresh(ports: StorePorts = this.ports): SessionArchive {
    return createSessionArchive(ports, { clock: this.clock, limits: { max_batch_bytes: 8 << 20 } })
  }

  append(path: string, text: string | Uint8Array, more: Partial<FileAppend> = {}) {
    const bytes = typeof text === 'string' ? utf8(text) : text
    return this.archive.append(this.session, { path, generation: 1, offset: 0, bytes, ...more })
  }

  async raw(path: string, generation?: number): Promise<string> {
    const file = await this.archive.raw(this.session, path, generation)
    return Buffer.from(await collected(file.bytes(0, file.tail))).toString()
  }

  async objects(): Promise<string[]> {
    return (await all(this.ports.objects.list(`sessions/${this.session.tenant}/`))).map(({ key }) => key)
  }
}

/** The same tests on memory, on local files, and on S3 and DynamoDB stand-ins. */
export function onEveryStore(
  title: string,
  tests: (open: (more?: Partial<SessionKey>) => Fixture) => void,
): void {
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
    describe(`${title} on ${name}`, () => {
      let opened: Awaited<ReturnType<typeof open>>
      beforeAll(async () => {
        opened = await open()
      })
      afterAll(() => opened?.close?.())
      tests((more) => new Fixture(opened, more))
    })
  }
}
