import { type ArchiveFile, type FileIdentity, NO_PREFIX, type Prefix } from './archive-file.ts'
import type { RunState } from './run-state.ts'

/** How a file stopped being what had been sent of it. */
export type Rewrite = 'truncated' | 'replaced' | 'rewritten'

/** The prefix is read again as a whole when the file has grown by this since; all of it costs a few readings of the file. */
const READ_AGAIN_AT = 1.5

/**
 * Whether a file still begins with the bytes that were sent of it: how much of it was there when that was last read as a
 * whole, or what happened to it. A file that only grew is believed for its last 4 KiB before the tail, until it has
 * grown by half; every other change is looked at to the last byte.
 */
export const checkHistory = async (
  file: ArchiveFile,
  { archived, file: before, verified, trouble }: RunState,
): Promise<{ readonly verified: number } | Rewrite> => {
  const { identity: now } = file
  const prefix: Prefix = archived ?? NO_PREFIX
  if (now.size < prefix.end) return 'truncated'
  const isSame = before !== null && before.dev === now.dev && before.ino === now.ino
  // A file that was found to be another is still another, however it was remembered.
  if (trouble?.stops) return reread(file, prefix, isSame && trouble.code !== 'replaced')
  if (isSame && isUntouched(before, now)) return { verified }
  const onlyGrew = isSame && now.size > before.size && now.size < verified * READ_AGAIN_AT
  if (onlyGrew) return (await file.hasEdgeOf(prefix)) ? { verified } : 'rewritten'
  return reread(file, prefix, isSame)
}

const reread = async (file: ArchiveFile, { end, digest }: Prefix, isSame: boolean) => {
  if ((await file.reread(end)).digest === digest) return { verified: file.identity.size }
  return isSame ? 'rewritten' : 'replaced'
}

const isUntouched = (before: FileIdentity, now: FileIdentity): boolean =>
  before.size === now.size && before.mtime === now.mtime && before.ctime === now.ctime
