import { createHash } from 'node:crypto'
import { basename, isAbsolute, join, normalize, sep } from 'node:path'
import { type Harness, RunfoldError, sessionPath } from '#schema'

/** What decides where a session's files belong in a harness home (SESSIONS.md 4). */
export interface Placement {
  readonly harness: Harness
  readonly id: string
  /** The folder the session is to be carried on in, on this machine. */
  readonly cwd: string
}

/**
 * Where a file of a session belongs below a harness home. Only what a harness derives from a path is made anew here: the
 * name of Claude's project folder, and Kimi's workspace.
 *
 * @throws bad_request for a path that leads out of the home
 */
export const placeOf = ({ harness, id, cwd }: Placement, path: string): string => {
  const checked = sessionPath.safeParse(path)
  if (!checked.success)
    throw new RunfoldError('bad_request', `a file of the session is called ${JSON.stringify(path)}`)
  const place = join(folderOf({ harness, id, cwd }, path), path)
  if (isAbsolute(place) || normalize(place).split(sep).includes('..'))
    throw new RunfoldError('bad_request', `the file ${JSON.stringify(path)} would lie outside`)
  return place
}

const folderOf = ({ harness, id, cwd }: Placement, path: string): string => {
  switch (harness) {
    case 'claude-code':
      return join('projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'))
    case 'codex': {
      const [, year, month, day] = /^rollout-(\d{4})-(\d{2})-(\d{2})T/.exec(path) ?? []
      return year && month && day ? join('sessions', year, month, day) : 'archived_sessions'
    }
    case 'kimi-code':
      return join('sessions', workspaceOf(cwd), `session_${id}`)
  }
}

/** `wd_<name of the folder>_<12 digits of its SHA-256>` */
const workspaceOf = (cwd: string): string =>
  `wd_${basename(cwd) || 'root'}_${createHash('sha256').update(cwd).digest('hex').slice(0, 12)}`
