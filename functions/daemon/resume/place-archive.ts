import { stat } from 'node:fs/promises'
import { isRunfoldError } from '#schema'
import { surveyFrames } from '../survey.ts'
import { moveDurably } from './durable-file.ts'
import { fileChunks } from './file-chunks.ts'
import type { RunFolder } from './run-folder.ts'

/** What became of the `run.lvr` that the folder had. */
export type Former =
  | { readonly outcome: 'none' | 'continued' }
  /** It goes on behind the archive: this machine has gone on with the run already, and the file is left as it is. */
  | { readonly outcome: 'ahead' }
  /** It was put aside under this name, for its bytes from `offset` on are in no archive. */
  | { readonly outcome: 'put_aside'; readonly path: string; readonly offset: number; readonly bytes: number }

/** Puts the staged archive in its place. Bytes that stood there and are not in it are kept under another name. */
export const placeArchive = async ({ archive, staged }: RunFolder, epoch: number): Promise<Former> => {
  const former = await sizeOf(archive)
  const size = (await sizeOf(staged)) ?? 0
  if (former === undefined) {
    await moveDurably(staged, archive)
    return { outcome: 'none' }
  }
  const offset = await commonLength(archive, staged)
  if (offset === size && former > size) return { outcome: 'ahead' }
  if (offset === former) {
    await moveDurably(staged, archive)
    return { outcome: 'continued' }
  }
  const whole = await wholeFrames(archive, offset)
  const path = await freeName(`${archive}.before-epoch-${epoch}`)
  await moveDurably(archive, path)
  await moveDurably(staged, archive)
  return { outcome: 'put_aside', path, offset: whole, bytes: former - whole }
}

/** What was put aside once is never written over. */
const freeName = async (path: string): Promise<string> => {
  let name = path
  for (let n = 2; (await sizeOf(name)) !== undefined; n++) name = `${path}-${n}`
  return name
}

export const sizeOf = async (path: string): Promise<number | undefined> =>
  (await stat(path).catch(() => undefined))?.size

/** Where the last frame ends that is whole within the first `end` bytes; 0 where they are no archive. */
const wholeFrames = async (path: string, end: number): Promise<number> => {
  try {
    return (await surveyFrames(fileChunks(path, end), 0)).end
  } catch (error) {
    if (!isRunfoldError(error, 'bad_frames')) throw error
    return 0
  }
}

/** How many first bytes two files share. */
const commonLength = async (one: string, other: string): Promise<number> => {
  const theirs = fileChunks(other)
  try {
    return await sharedLength(fileChunks(one), theirs)
  } finally {
    await theirs.return()
  }
}

const sharedLength = async (
  ours: AsyncGenerator<Uint8Array, void>,
  theirs: AsyncGenerator<Uint8Array, void>,
): Promise<number> => {
  let same = 0
  for await (const mine of ours) {
    const { value: chunk, done } = await theirs.next()
    if (done) break
    const length = Math.min(mine.length, chunk.length)
    const isSame = Buffer.compare(mine.subarray(0, length), chunk.subarray(0, length)) === 0
    if (!isSame) return same + firstDifference(mine, chunk)
    same += length
    if (mine.length !== chunk.length) break
  }
  return same
}

const firstDifference = (one: Uint8Array, other: Uint8Array): number => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}
