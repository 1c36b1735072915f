import { type Harness, sessionId, sessionPath } from '../schema/index.ts'

// Where a harness keeps its sessions on a machine (SESSIONS.md 4 and 8), as data and pure functions: who walks the folders
// asks here about every file, and reads none that has no place.

export interface Home {
  readonly harness: Harness
  /** The environment variable that may name the home. */
  readonly variable: string
  /** Else it is this folder in the user's own. */
  readonly folder: string
  /** The folders of the home, in any depth below which its sessions lie; nothing else is looked into. */
  readonly roots: readonly string[]
  /** The place of a file, by its path below the home, separated by `/`; undefined when it is none of a session. */
  place(path: string): Place | undefined
  /** Whether files of these paths are a session; where it is left out, any are. */
  isSession?(paths: ReadonlySet<string>): boolean
  /** Of a harness whose first record names the session: that name, if it stands in these first bytes of the file. */
  nameIn?(head: Uint8Array): string | undefined
}

/** A first record is as long as its instructions are; longer ones are named by their files. */
export const HEAD_BYTES = 1024 * 1024

export interface Place {
  /** The session's id; where the home has `nameIn`, only for a file that does not say. */
  readonly id: string
  /** Session-relative. */
  readonly path: string
  /** The bytes of the session are those that come out of it. */
  readonly compressed?: 'zstd' | undefined
}

/** Why the archive will not take a file of this name; undefined when it will. A name is never changed to fit. */
export function refusalOf({ id, path }: Pick<Place, 'id' | 'path'>): string | undefined {
  for (const checked of [sessionId.safeParse(id), sessionPath.safeParse(path)]) {
    if (!checked.success) return checked.error.issues[0]?.message
  }
  return undefined
}

/** Whether a file grows by lines, so that what is behind its last LF may still be written to. */
export function isLineOriented(path: string): boolean {
  return path.endsWith('.jsonl')
}
