import { copyFile, rm, truncate } from 'node:fs/promises'
import type { RunTail } from '#client'
import { ArchiveFile, NO_PREFIX } from '../watch/archive-file.ts'
import { sizeOf } from './place-archive.ts'
import type { Plan } from './plan.ts'
import type { RunFolder } from './run-folder.ts'

/** Fetches the first bytes of an archive into a file; what stands in `<file>.part` is gone on from, or fetched again. */
export type FetchArchive = (path: string, promised: RunTail) => Promise<unknown>

/** Brings the planned bytes of the archive here and checks them; they may be here already, with more behind them. */
export const stageArchive = async (folder: RunFolder, plan: Plan, fetch: FetchArchive): Promise<void> => {
  if (await hasBytes(folder, plan)) return
  await rm(folder.staged, { force: true })
  await seed(folder, plan)
  await fetch(folder.staged, { tail: plan.tail, digest: plan.digest, frames: 0, epoch: plan.epoch })
}

const hasBytes = async ({ staged }: RunFolder, { tail, digest }: Plan): Promise<boolean> => {
  if (((await sizeOf(staged)) ?? -1) < tail) return false
  const file = await ArchiveFile.open(staged, NO_PREFIX)
  try {
    return (await file?.digest(tail)) === digest
  } finally {
    await file?.close()
  }
}

/** What an earlier stay of the run has left here need not be fetched again, if it is the same; `fetch` finds out. */
const seed = async ({ archive, staged }: RunFolder, { tail }: Plan): Promise<void> => {
  const part = `${staged}.part`
  const isBegun = (await sizeOf(part)) !== undefined
  if (isBegun || (await sizeOf(archive)) === undefined) return
  await copyFile(archive, part)
  await truncate(part, Math.min(tail, (await sizeOf(part)) ?? 0))
}
