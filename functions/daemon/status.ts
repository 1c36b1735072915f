import { stat } from 'node:fs/promises'
import { newState, type RunPlace, type RunState, type Trouble } from './watch/run-state.ts'
import { listRuns } from './watch/runs-folder.ts'
import { readStates } from './watch/state-file.ts'

/** How far a run of a watched folder is. */
export interface ShippingStatus extends RunPlace {
  /** Null where the file is gone. */
  readonly file_bytes: number | null
  /** What the server is known to have of it. */
  readonly archived_bytes: number
  /** What it does not have yet; whole frames wait to be sent, torn ones to become whole. */
  readonly lag_bytes: number
  /** What of that is no whole frame, as the last look found it. */
  readonly torn_bytes: number
  /** When the server last took bytes; RFC 3339 by this machine's clock. */
  readonly sent_at: string | null
  readonly trouble: Trouble | null
}

/** Every run in the folder, and every one that was, by run id; whether a watcher is running makes no difference. */
export async function* statusOf(folder: string, stateFolder: string): AsyncGenerator<ShippingStatus> {
  const states = new Map(readStates(stateFolder).map((state) => [state.run_id, state]))
  for (const place of (await listRuns(folder)).runs) {
    const state = states.get(place.run_id)
    states.delete(place.run_id)
    const size = await sizeOf(place.path)
    // A folder that has no archive yet is no run.
    if (size !== null || state) yield rowOf({ ...(state ?? newState(place)), ...place }, size)
  }
  for (const state of states.values()) yield rowOf(state, null)
}

const rowOf = (state: RunState, file_bytes: number | null): ShippingStatus => {
  const { run_id, path, archived, torn, sent_at, trouble } = state
  const archived_bytes = archived?.end ?? 0
  const lag_bytes = Math.max(0, (file_bytes ?? 0) - archived_bytes)
  const torn_bytes = Math.min(lag_bytes, torn?.length ?? 0)
  return { run_id, path, file_bytes, archived_bytes, lag_bytes, torn_bytes, sent_at, trouble }
}

const sizeOf = async (path: string): Promise<number | null> => {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? found.size : null
}
