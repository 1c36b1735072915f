import type { CatalogCard, Harness } from '../schema/index.ts'

// What the archive asks of a derivation and gets from it (SESSIONS.md 1). Everything here is pure: files come in as bytes,
// documents go out as bytes; no clock, no machine, no path of a source. `deriveTranscript` (derive.ts) is the way in.

/** The newest generation of one file of a session. */
export interface FileVersion {
  /** Session-relative. */
  readonly path: string
  /** From 1. */
  readonly generation: number
  /** Bytes. */
  readonly tail: number
  /** Lower-case hex SHA-256 of all of them. */
  readonly digest: string
}

/** The files of a session as they are at one moment; a derivation sees this moment only. */
export interface SessionFiles {
  readonly list: readonly FileVersion[]
  /** The bytes of a listed file from an offset up to its listed tail, in chunks that are good until the next one is asked for. */
  read(file: FileVersion, from: number): AsyncIterable<Uint8Array>
}

/**
 * Something a derivation looked at, or looked for and did not find. What a `message` input says can change bytes of messages;
 * a `trailer` input changes only what follows them (SESSIONS.md 1.1). `session` names the ancestor of a fork whose file it is.
 */
export type Input = FileInput | AbsentInput | AgentsInput

export interface FileInput extends FileVersion {
  readonly use: 'message' | 'trailer'
  readonly session?: string
}

export interface AbsentInput {
  readonly use: 'message' | 'trailer'
  readonly session?: string
  /** Empty for an ancestor that is not archived at all. */
  readonly path: string
  readonly absent: true
}

/** The set of sub-agents, by the paths of their transcripts. */
interface AgentsInput {
  readonly use: 'trailer'
  /** SHA-256 of the sorted paths. */
  readonly agents: string
}

export interface TranscriptRequest {
  readonly harness: Harness
  /** The session's id. */
  readonly id: string
  /** The sub-agent whose document is wanted; without it, that of the session itself. */
  readonly agent?: string | undefined
  readonly files: SessionFiles
  /** The files of another session of the same machine and harness, of which this one may be a fork. */
  ancestor(id: string): Promise<SessionFiles | undefined>
  /**
   * The `state` of an earlier derivation of this transcript, to go on from. One that is unreadable, foreign or no longer true
   * of the files is ignored. It is only for who holds the first `stable_bytes` bytes of that derivation's document.
   */
  readonly state?: Uint8Array | undefined
}

/** A derivation under way. */
export interface Derivation {
  /** What of the earlier document stands; zeros where everything is made anew. */
  readonly reused: { readonly bytes: number; readonly messages: number }
  /** The document behind the reused prefix; to be taken once, to its end. An error here leaves nothing to be kept. */
  readonly document: AsyncIterable<Uint8Array>
  /** Once the document has been taken to its end; throws before. */
  outcome(): Derived
}

/** What is to be kept of a document. */
export interface Derived {
  /** Of the whole document, reused prefix included. */
  readonly bytes: number
  readonly sha256: string
  /** Length of what no append changes: up to the end of the last stable message, 0 when there is none. */
  readonly stable_bytes: number
  readonly stable_messages: number
  /** From which an append goes on behind `stable_bytes`; undefined over STATE_BYTES_MAX, or without a transcript. */
  readonly state: Uint8Array | undefined
  /** How much of the transcript the state has seen: up to its last LF. */
  readonly state_offset: number
  /** Length of the transcript; 0 without one. */
  readonly transcript_bytes: number
  readonly inputs: readonly Input[]
  /** What the catalog entry needs beside the document's size and digest. */
  readonly card: CatalogCard
  /** For the line a sync prints about it: the first bad line, and how many there are. */
  readonly bad_lines: { readonly count: number; readonly first?: number | undefined }
  readonly counters: Counters
}

/** The work that was done (SESSIONS.md 6). */
export interface Counters {
  /** Records of this transcript, not those of an ancestor. */
  readonly records_parsed: number
  /** Bytes read of every file, an ancestor's included. */
  readonly raw_bytes_read: number
  /** `messages_reused + messages_parsed` are those of the document. */
  readonly messages_parsed: number
  readonly messages_reused: number
}
