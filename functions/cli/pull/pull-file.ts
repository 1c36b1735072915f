import { createHash } from 'node:crypto'
import { open, rename, stat, unlink } from 'node:fs/promises'
import type { Client, RunTail } from '#client'
import { RunfoldError } from '#schema'
import { writeAll } from '../../write-all.ts'
import { fileBytes } from '../reading/file-bytes.ts'
import { UsageError } from '../usage-error.ts'
import { download } from './download.ts'

export interface PullOptions {
  readonly client: Client
  readonly run: string
  readonly path: string
  /** As far as the archive is wanted. @default all of it */
  readonly promised?: RunTail
  readonly progress: (from: number, end: number) => { at(position: number): void; stop(): void }
}

export interface Pulled {
  readonly run_id: string
  readonly file: string
  readonly bytes: number
  readonly digest: string
  /** Bytes that an interrupted pull had left beside the file. */
  readonly resumed_from: number
}

/**
 * Fetches an archive into a file, which appears whole and checked or not at all. What was fetched stands in `<file>.part`
 * until then, so an interrupted pull goes on where it stopped. The archive holds secrets: only the owner may read it.
 */
export const pullFile = async (options: PullOptions): Promise<Pulled> => {
  const { client, run, path } = options
  const promised = options.promised ?? (await client.run(run))
  const part = `${path}.part`
  const left = await sizeOf(part)
  const resumed = left <= promised.tail ? left : 0
  const digest = await fetchInto(options, part, resumed, promised)
  if (digest === promised.digest) return finished(options, part, promised, resumed)
  await unlink(part)
  // What an earlier pull left may belong to another life of the run id; once more from the beginning decides.
  if (resumed > 0 && (await fetchInto(options, part, 0, promised)) === promised.digest) {
    return finished(options, part, promised, 0)
  }
  throw new RunfoldError('internal', `the bytes that came are not those of ${run}: their digest differs`)
}

const fetchInto = async (
  options: PullOptions,
  part: string,
  from: number,
  { tail }: RunTail,
): Promise<string> => {
  const { client, run } = options
  const hash = createHash('sha256')
  const file = await open(part, from > 0 ? 'r+' : 'w', 0o600).catch((cause) => {
    throw new UsageError(`cannot write ${part}: ${cause.message}`, { cause })
  })
  const progress = options.progress(from, tail)
  try {
    for await (const chunk of fileBytes(part, 0, from)) hash.update(chunk)
    await download({
      client,
      run,
      from,
      tail,
      write: async (bytes, at) => {
        await writeAll(file, bytes, at)
        hash.update(bytes)
        progress.at(at + bytes.length)
      },
    })
    await file.sync()
    return hash.digest('hex')
  } finally {
    progress.stop()
    await file.close()
  }
}

const finished = async (
  { run, path }: PullOptions,
  part: string,
  { tail, digest }: RunTail,
  resumed_from: number,
): Promise<Pulled> => {
  await rename(part, path)
  return { run_id: run, file: path, bytes: tail, digest, resumed_from }
}

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0
