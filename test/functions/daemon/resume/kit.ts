import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { encodeArchive, encodeFrame, encodeRecord, readArchive, readRecord } from '#codec'
import type { JournalRecord } from '#schema'
import { FEATURES_OFFERED } from '../../../../functions/api/features.ts'
import { pullFile } from '../../../../functions/cli/pull/pull-file.ts'
import { type ResumeOptions, resumeRun } from '../../../../functions/daemon/resume/resume.ts'
import { runFolder } from '../../../../functions/daemon/resume/run-folder.ts'
import { takeLease } from '../../../../functions/daemon/resume/take-lease.ts'
import { headerRecord } from '../../../kit/header-record.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { startServer } from '../../../shared/client/kit.ts'

export const SECRET = 'sign-with-this-4711'
export const OLD = { machine_id: 'old-machine', world_id: 'old-world' }
export const NEW = { machine_id: 'new-machine', world_id: 'new-world' }

export const frameOf = (record: JournalRecord) => encodeFrame(encodeRecord(record))

const call = (id: string) => ({ id, name: 'shell', arguments: '{"cmd":"ls"}', result: null })

/** A run in the middle of a tool batch of which one call is done. */
export const RECORDS: readonly JournalRecord[] = [
  headerRecord({ callback_secret: SECRET, iteration: 2, metadata: { team: 'ü' } }),
  {
    ContextCheckpoint: {
      snapshot: {
        stage_name: 'build',
        total_tokens: 3,
        max_tokens: 100,
        regions: [
          { name: 'notes', kind: 'k', current_tokens: 3, max_tokens: 9, entries: [], description: null },
        ],
      },
      at: 1_790_000_001,
    },
  },
  {
    ToolBatch: {
      calls: [call('c1'), call('c2')],
      at: 3,
      stage_index: 0,
      iteration: 2,
      response: 'two calls',
    },
  },
  { ToolCallDone: { iteration: 2, call_id: 'c1', result: 'done', at: 4 } },
  { StatusChanged: { status: 'waiting_input', at: 5 } },
] as readonly JournalRecord[]

/** A server that has the run, which `OLD` holds; and another machine's folder of runs. */
export async function twoMachines(records = RECORDS) {
  const server = await startServer(undefined, FEATURES_OFFERED)
  const { client } = server
  const run = `run-${randomUUID()}`
  const { epoch } = await client.acquire(run, OLD)
  const bytes = encodeArchive(records)
  await client.append(run, { offset: 0, epoch, bytes })
  const { limits } = await client.capabilities()
  const folder = runFolder(join(temporaryFolder(), run))

  const archive = async () => {
    const { tail } = await client.tail(run)
    const { chunks } = await client.archive(run, { start: 0, end: tail })
    const all: Uint8Array[] = []
    for await (const chunk of chunks) all.push(chunk)
    return Buffer.concat(all)
  }
  const options = (more: Partial<ResumeOptions> = {}): ResumeOptions => {
    const worker = more.worker ?? NEW
    return {
      client,
      limits,
      uploads: true,
      run,
      worker,
      folder,
      paths: [],
      take: () => takeLease({ client, run, worker, force: true, now: Date.now }),
      fetch: (path, promised) =>
        pullFile({
          client,
          run,
          path,
          promised,
          progress: () => ({ at: () => undefined, stop: () => undefined }),
        }),
      now: () => 1_790_000_100_500,
      signal: new AbortController().signal,
      ...more,
    }
  }
  return {
    server,
    client,
    run,
    epoch,
    bytes: Buffer.from(bytes),
    folder,
    archive,
    options,
    resume: (more?: Partial<ResumeOptions>) => resumeRun(options(more)),
    local: () => readFileSync(folder.archive),
  }
}

export const kindsOf = (bytes: Uint8Array): string[] =>
  [...readArchive(bytes, readRecord)].map((item) => (item.type === 'record' ? item.record.kind : item.type))

export const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
