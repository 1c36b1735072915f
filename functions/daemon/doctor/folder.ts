import { constants } from 'node:fs'
import { access, mkdir, readFile, stat } from 'node:fs/promises'
import { counted } from '../../counted.ts'
import { quoted } from '../../quoted.ts'
import { type Listing, listRuns } from '../watch/runs-folder.ts'
import { isWatched, readStates } from '../watch/state-file.ts'
import { bad, type Finding, ok, warning } from './finding.ts'

const READ_BY_OTHERS = 0o044
const WATCHES = '/proc/sys/fs/inotify/max_user_watches'

/** Can the archives be read, can what is remembered be kept, will the system tell of changes? */
export async function* checkFolder(folder: string, stateFolder: string): AsyncGenerator<Finding> {
  let listing: Listing
  try {
    listing = await listRuns(folder)
  } catch (error) {
    yield bad(
      'folder',
      `${folder} cannot be listed: ${(error as Error).message}`,
      `let this user read ${folder}`,
    )
    return
  }
  yield ok('folder', `${counted(listing.runs.length, 'run')} in ${folder}`)
  for (const { path, detail } of listing.ignored)
    yield warning('folder', `${path} is left alone: ${detail}`, 'rename the file')
  yield* checkFiles(listing)
  yield await checkState(stateFolder)
  yield* checkEvents(listing.folders.length)
  yield isWatched(stateFolder)
    ? ok('watch', 'is running on this folder')
    : warning(
        'watch',
        'no `runfold watch` is running on this folder',
        `start it: runfold watch ${quoted(folder)}; for systemd and launchd there are units in docs/ of the source`,
      )
}

async function* checkFiles({ runs }: Listing): AsyncGenerator<Finding> {
  let open = 0
  for (const { path } of runs) {
    const found = await stat(path).catch(() => undefined)
    if (!found) continue
    if (found.mode & READ_BY_OTHERS) open++
    const isReadable = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (!isReadable) yield bad('file', `${path} cannot be read`, `let this user read it: chmod u+r '${path}'`)
  }
  if (open === 0) return
  const found = `${counted(open, 'archive')} can be read by other users; callback secrets stand in clear there`
  yield warning('files', found, 'chmod 700 the folder, and let the daemon run with umask 077')
}

const checkState = async (stateFolder: string): Promise<Finding> => {
  try {
    await mkdir(stateFolder, { recursive: true, mode: 0o700 })
    await access(stateFolder, constants.R_OK | constants.W_OK)
    return ok('state', `is kept in ${stateFolder}`)
  } catch (error) {
    return bad(
      'state',
      `${stateFolder} cannot be written: ${(error as Error).message}`,
      'let this user write there, or set XDG_STATE_HOME',
    )
  }
}

async function* checkEvents(folders: number): AsyncGenerator<Finding> {
  const text = await readFile(WATCHES, 'utf8').catch(() => undefined)
  const limit = Number(text ?? Number.POSITIVE_INFINITY)
  if (folders < limit) return
  const found = `the system gives out ${limit} watches, and the folder has ${counted(folders, 'run folder')}`
  yield warning('events', found, 'sysctl fs.inotify.max_user_watches=524288; the others are polled')
}

/** What the watcher has met, and what ends each kind of it. */
export function* checkTroubles(folder: string, stateFolder: string): Generator<Finding> {
  let states: ReturnType<typeof readStates>
  try {
    states = readStates(stateFolder)
  } catch (error) {
    const found = `what is known of the runs, in ${stateFolder}, cannot be read: ${(error as Error).message}`
    yield bad('state', found, 'let this user read and write there, or set XDG_STATE_HOME')
    return
  }
  for (const { run_id, trouble } of states) {
    if (!trouble) continue
    const found = `${run_id}: ${trouble.code}: ${trouble.detail}`
    yield (trouble.stops ? bad : warning)('run', found, mendOf(trouble.code, run_id, folder))
  }
}

const mendOf = (code: string, run: string, folder: string): string => {
  switch (code) {
    case 'fenced':
    case 'ahead':
      return `go on there, or take it back: runfold resume ${run} --to ${quoted(folder)}`
    case 'lease_held':
      return `it is tried again by itself; runfold lease show ${run} tells who has it`
    case 'offset_conflict':
    case 'truncated':
    case 'replaced':
    case 'rewritten':
      return `keep the file aside, look at both (runfold pull ${run} server.lvr), and push what you want to keep under another id`
    case 'not_found':
      return `if it is to be there again: runfold push it`
    case 'missing':
      return `nothing, if you removed it; else runfold pull ${run} brings the archive back`
    case 'unreadable_file':
      return 'mend the permissions of the file'
    default:
      return `runfold inspect the file, runfold show ${run}`
  }
}
