import { isRunfoldError, type RunfoldError } from '#schema'
import type { Shipped } from './file-state.ts'
import type { FileAtServer } from './session-server.ts'

// What the refusal of an append says of the file at the server.

/** The server has something else at this position than we thought: look where it stands, and compare. */
export const isElsewhere = (error: unknown): error is RunfoldError =>
  isRunfoldError(error, 'gap') || isRunfoldError(error, 'overlap') || isRunfoldError(error, 'offset_conflict')

/** Said by the server, or by a proxy before it. */
export const isTooLarge = (error: unknown): boolean =>
  isRunfoldError(error) && (error.code === 'too_large' || error.facts.http_status === 413)

/** Undefined where the server does not know the file, or not any more. */
export const standOf = ({ facts }: RunfoldError): FileAtServer | undefined => {
  const generation = Number(facts.generation)
  if (generation === 0) return undefined
  return { generation, tail: Number(facts.tail), digest: String(facts.digest) }
}

/** Deleted there, or of an older backup. */
export const isBehind = (there: FileAtServer | undefined, { generation, shipped }: Shipped): boolean =>
  !there || there.generation < generation - 1 || (there.generation === generation && there.tail < shipped)
