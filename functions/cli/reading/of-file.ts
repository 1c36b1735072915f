import { isRunfoldError, RunfoldError } from '#schema'

/** Waits for what is done with a file; see `namedAfter`. */
export const ofFile = async <Value>(path: string, work: Promise<Value>): Promise<Value> => {
  try {
    return await work
  } catch (error) {
    throw namedAfter(path, error)
  }
}

/** A refusal of bytes, with the file they are of: the codec does not know it, and the same may be said of each of many. */
export const namedAfter = (file: string, error: unknown): unknown =>
  isRunfoldError(error, 'bad_frames')
    ? new RunfoldError(error.code, error.message, { ...error.facts, file }, { cause: error })
    : error
