import type { RunStatus } from '#schema'
import type { TornTail } from '../survey.ts'
import type { FileIdentity, Prefix } from './archive-file.ts'

/** An archive in a runs folder. */
export interface RunPlace {
  readonly run_id: string
  readonly path: string
}

/** Why a run is not where its file is. */
export interface Trouble {
  /** A code of API.md, or one of ours: `truncated`, `replaced`, `rewritten`, `ahead`, `missing`, `unreadable_file`. */
  readonly code: string
  readonly detail: string
  /** Nothing more is sent until a person has looked, or another file has taken the name. */
  readonly stops: boolean
  readonly facts: Readonly<Record<string, unknown>>
  /** By this machine's clock, RFC 3339. */
  readonly at: string
}

/**
 * What is remembered of a run from look to look. All of it can be found out again from file and server, so losing it costs
 * a reading of the file and nothing else.
 */
export interface RunState extends RunPlace {
  /** The file as it was when it was last looked at. */
  readonly file: FileIdentity | null
  /** What the server is known to hold, equal to the file's first bytes; null before the two were compared. */
  readonly archived: Prefix | null
  /** How much of the file was there when its prefix was last read again as a whole. */
  readonly verified: number
  /** What cannot be sent, for now or for ever. */
  readonly torn: TornTail | null
  /** The file was quiet at this, so it is not merely a frame under way. */
  readonly settled: boolean
  readonly status: RunStatus | null
  readonly trouble: Trouble | null
  /** When the server last took bytes; RFC 3339 by this machine's clock. */
  readonly sent_at: string | null
}

export const newState = ({ run_id, path }: RunPlace): RunState => ({
  run_id,
  path,
  file: null,
  archived: null,
  verified: 0,
  torn: null,
  settled: false,
  status: null,
  trouble: null,
  sent_at: null,
})

/** Where states are kept. */
export interface RunStates {
  get(run_id: string): RunState | undefined
  put(state: RunState): void
  all(): Iterable<RunState>
}
