import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeRecord, jsonBytes, parseJson } from '#codec'
import type { RunMeta } from '#schema'
import { writeDurably } from './durable-file.ts'
import type { FoldedFile } from './fold-file.ts'

// A run's folder as daemons have it:
//
//   <runs>/<run_id>/run.lvr         the archive, verbatim
//                   context.json    the window
//                   meta.json       the RunMeta; a starting daemon looks for it first, so it comes last
//                   .resume/        while a resume is under way (plan.ts)

export interface RunFolder {
  readonly path: string
  readonly archive: string
  readonly context: string
  readonly meta: string
  /** What a resume that was cut off goes on from. */
  readonly plan: string
  /** The archive as far as it is here, until it is whole. */
  readonly staged: string
  readonly work: string
}

export const runFolder = (path: string): RunFolder => {
  const work = join(path, '.resume')
  return {
    path,
    archive: join(path, 'run.lvr'),
    context: join(path, 'context.json'),
    meta: join(path, 'meta.json'),
    plan: join(work, 'plan.json'),
    staged: join(work, 'run.lvr'),
    work,
  }
}

export const makeRunFolder = (folder: RunFolder): Promise<unknown> =>
  mkdir(folder.work, { recursive: true, mode: 0o700 })

export const writeContext = ({ context }: RunFolder, window: FoldedFile['context']): Promise<void> =>
  writeDurably(context, jsonBytes(window))

/** With the callback secret: the daemon signs with it (P10). */
export const writeMeta = ({ meta }: RunFolder, value: RunMeta): Promise<void> =>
  writeDurably(meta, jsonBytes(asWritten(value)))

/** Fields in the order and with the omissions of the format, as the reference would write them into a record. */
const asWritten = (meta: RunMeta): unknown => {
  const identity = { run_id: meta.run_id, machine_id: '', world_id: '', created_at: 0 }
  const record = parseJson(encodeRecord({ Header: { identity, meta } })) as { Header: { meta: unknown } }
  return record.Header.meta
}
