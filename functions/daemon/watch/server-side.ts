import type { Client } from '#client'
import { EMPTY_DIGEST } from '#codec'
import { isRunfoldError, RunfoldError } from '#schema'
import { type ArchiveFile, NO_PREFIX, type Prefix } from './archive-file.ts'

/** Where the server's archive of a run ends. */
export interface ServerSide {
  readonly tail: number
  readonly digest: string
}

const NOTHING: ServerSide = { tail: 0, digest: EMPTY_DIGEST }

/**
 * What the server has of a run, without taking its lease: a file that cannot be sent must not fence off the run's owner.
 * Undefined when the token may append but not look.
 *
 * @param sent how much the server is known to have had
 * @throws not_found when it had something and has no such run any more
 */
export const lookAtServer = async (
  client: Client,
  run: string,
  sent: number,
): Promise<ServerSide | undefined> => {
  try {
    return await client.tail(run)
  } catch (error) {
    if (isRunfoldError(error, 'forbidden')) return undefined
    if (!isRunfoldError(error, 'not_found')) throw error
    if (sent === 0) return NOTHING
    const text = `${run} was deleted on the server, where ${sent} bytes of it were; it is not sent again by itself`
    throw new RunfoldError('not_found', text, { sent }, { cause: error })
  }
}

/**
 * The prefix that file and server have in common: all that the server has. Undefined when the server has more than the
 * file, which is then to be compared when it has grown.
 *
 * @throws offset_conflict when the bytes differ
 */
export const commonPrefix = async (
  file: ArchiveFile,
  { tail, digest }: ServerSide,
): Promise<Prefix | undefined> => {
  if (tail === 0) return NO_PREFIX
  if (tail > file.identity.size) return undefined
  const prefix = await file.prefixTo(tail)
  if (prefix.digest === digest) return prefix
  const text = `the first ${tail} bytes of the file and of the archive on the server differ; nothing more is sent`
  throw new RunfoldError('offset_conflict', text, { tail, digest, file_digest: prefix.digest })
}
