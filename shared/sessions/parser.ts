import type { Harness } from '../schema/index.ts'
import type { FileVersion, SessionFiles } from './adapter.ts'
import type { Message, Trailer } from './document.ts'
import type { ValueMap } from './exact-json.ts'
import type { Facts } from './facts.ts'
import type { LinePlace } from './lines.ts'
import type { Look } from './look.ts'
import type { Problems } from './problems.ts'
import type { SavedMap, StateWriter } from './state.ts'
import type { MessageTally } from './tally.ts'
import type { ToolNames } from './tool-names.ts'

// What a harness must bring (docs/ADDING-A-HARNESS.md): which files are transcripts, and a parser of their records.

/** How the sessions of one harness are read. */
export interface Adapter {
  readonly harness: Harness
  /** Part of the keys of all that is derived: raise it with every change of what comes out. */
  readonly version: number
  /** The file that is rewritten with every turn, and sent last. */
  readonly last?: string
  /** The transcripts among the files of a session, its own first; that one also when its file is missing. */
  transcripts(id: string, paths: Iterable<string>): readonly TranscriptName[]
  /** Begins a transcript, or goes on with what `save` gave. */
  begin(transcript: Transcript, saved?: SavedMap): TranscriptParser
  /** Of a harness with forks: whether a saved parser goes on as well now that the ancestor's transcript has grown. */
  standsWithLater?(saved: SavedMap, files: SessionFiles, file: FileVersion): Promise<boolean>
}

/** A parser and its version, as states, keys and entries name it. */
export function parserName({ harness, version }: Adapter): string {
  return `${harness}/${version}`
}

export interface TranscriptName {
  /** The sub-agent whose transcript it is; undefined for the session itself. */
  readonly agent?: string | undefined
  readonly path: string
}

/** The transcript under way: what a parser is told, and where it puts what it finds. */
export interface Transcript extends TranscriptName {
  readonly harness: Harness
  /** The session's id. */
  readonly id: string
  readonly facts: Facts
  readonly problems: Problems
  readonly tools: ToolNames
  /** What has been emitted so far. */
  readonly tally: MessageTally
  readonly look: Look
  /** Adds a message to the document. No later record can change it, but for those after `finish`. */
  emit(message: Message): void
  ancestor(id: string): Promise<SessionFiles | undefined>
}

export interface TranscriptParser {
  /** Takes the next record. */
  take(record: ValueMap, at: LinePlace): void | Promise<void>
  /** All it needs to go on behind the last record, as JSON and blobs. */
  save(out: StateWriter): unknown
  /** The file ends here: what was held back is emitted. */
  finish(): void
  /** What stands behind the messages, but for what is counted for every harness alike. Called once, after `finish`. */
  trailer(): Promise<OwnTrailer>
  /** Lets go of what it reads beside the transcript; called once in any case. */
  close?(): Promise<void>
}

/** What a harness says in a trailer; facts of the transcript stand where it says nothing. */
export type OwnTrailer = Pick<Trailer, 'usage'> &
  Partial<Pick<Trailer, 'cwd' | 'title' | 'created_at' | 'updated_at' | 'lineage' | 'agents' | 'problems'>>
