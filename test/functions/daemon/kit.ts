import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { encodeFrame, encodeRecord, PREAMBLE } from '#codec'
import type { JournalRecord } from '#schema'
import { Leases } from '../../../functions/daemon/watch/leases.ts'
import { type Looking, type LookOptions, lookAtRun } from '../../../functions/daemon/watch/look.ts'
import type { WatchReport } from '../../../functions/daemon/watch/report.ts'
import type { RunState, RunStates } from '../../../functions/daemon/watch/run-state.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { type Server, startServer } from '../../shared/client/kit.ts'

export const RUN = 'r'
export const HERE = { machine_id: 'here', world_id: 'w' }
export const THERE = { machine_id: 'there', world_id: 'w' }

const message = (content: string): JournalRecord => ({
  Message: { message: { role: 'user', content }, at: 1 },
})
export const statusRecord = (status: 'running' | 'complete'): JournalRecord => ({
  StatusChanged: { status, at: 1 },
})
export const frameOf = (record: JournalRecord | string) =>
  Buffer.from(encodeFrame(encodeRecord(typeof record === 'string' ? message(record) : record)))
export const archiveOf = (...records: readonly (JournalRecord | string)[]) =>
  Buffer.concat([PREAMBLE, ...records.map(frameOf)])

const statesInMemory = (): RunStates => {
  const states = new Map<string, string>()
  return {
    get: (run_id) => {
      const found = states.get(run_id)
      return found === undefined ? undefined : (JSON.parse(found) as RunState)
    },
    put: (state) => void states.set(state.run_id, JSON.stringify(state)),
    all: () => [...states.values()].map((each) => JSON.parse(each) as RunState),
  }
}

/** A run's file in a folder of its own, a server in memory, and looks of a watcher whose time stands still until it is moved. */
export const watchedRun = async (given?: Server, states = statesInMemory()) => {
  const server = given ?? (await startServer())
  const path = join(temporaryFolder(), RUN, 'run.lvr')
  mkdirSync(dirname(path))
  let time = 0
  const now = () => time
  const bounds = async () => ({ min: 5, max: 3600 })
  const leases = new Leases(server.client, HERE, { ttl_s: 60, hold_s: 3600 }, bounds, now)
  const reports: WatchReport[] = []
  const looking: Looking = {
    states,
    shipping: {
      client: server.client,
      capabilities: () => server.client.capabilities(),
      leases,
      answers: () => server.requests.length,
      now,
      signal: new AbortController().signal,
    },
    report: (report) => reports.push(report),
  }
  return {
    server,
    path,
    leases,
    states,
    reports,
    look: (options: Partial<LookOptions> = {}) =>
      lookAtRun(looking, { run_id: RUN, path }, { isQuiet: false, ...options }),
    pass: (ms: number) => {
      time += ms
    },
    state: () => states.get(RUN),
  }
}

export const archived = async ({ client }: Server, run = RUN): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await client.archive(run)).chunks) chunks.push(chunk)
  return Buffer.concat(chunks)
}
