import { basename, dirname } from 'node:path'
import { readStream } from '#codec'
import { runId } from '#schema'
import { type Survey, surveyFrames } from '../../daemon/survey.ts'
import { fileBytes } from '../reading/file-bytes.ts'

/** How far a file's bytes from `start` on, a frame boundary (or 0), are whole frames; see `surveyFrames`. */
export const survey = (path: string, start: number, size: number): Promise<Survey> =>
  surveyFrames(fileBytes(path, start, size), start)

/**
 * The run id of an archive: that of its Header where it is a legal one, else the file's name, or the folder's for the
 * `run.lvr` of a daemon's run folder. Undefined when none of them will do.
 */
export const runIdOf = async (path: string): Promise<string | undefined> => {
  const named = basename(path) === 'run.lvr' ? basename(dirname(path)) : basename(path).replace(/\.lvr$/i, '')
  return [...(await headerIds(path)), named].find((name) => runId.safeParse(name).success)
}

const headerIds = async (path: string): Promise<readonly string[]> => {
  for await (const item of readStream(fileBytes(path))) {
    if (item.type === 'unreadable') continue
    if (item.type !== 'record' || item.record.kind !== 'Header') return []
    return [item.record.meta.read().run_id, item.record.identity.run_id]
  }
  return []
}
