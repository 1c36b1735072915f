import type { SessionKey } from '../schema/index.ts'
import type { Extents } from './run-index.ts'

// The port of the session index (SESSIONS.md 1.1; ports.ts has the others): one head per session, one item per file path, one
// per closed generation of a path. Every item carries a version, and is replaced only where its predecessor stands.

/** What is replaced only by its successor. */
export interface Versioned {
  /** 1 for the first one stored, then one more each time. */
  readonly version: number
}

/** A document in the storage, and what is needed to tell whether it still counts and to go on from it. */
export interface StoredDocument {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
  /** As the storage gave it; an object of another one is another object. */
  readonly etag: string
  /** Of the prefix that no append changes, up to the end of the last stable message. */
  readonly stable_bytes: number
  readonly stable_messages: number
  /** Key of the parser state that goes on behind the prefix; null where it was too large to be kept. */
  readonly state: string | null
}

/** The transcript of another session that a derivation compared with, as it was then. */
export interface AncestorInput {
  /** Id of that session, on the same machine. */
  readonly session: string
  readonly path: string
  /** 0 where it was not archived. */
  readonly generation: number
  readonly tail: number
  readonly digest: string
}

/** The newest parser state that was kept. */
export interface KeptState {
  readonly key: string
  /** How much of the transcript it has seen. */
  readonly offset: number
  /** Of the state itself. */
  readonly bytes: number
  /** Of the transcript behind `offset`, as of the derivation: what the next one reads again. Absent means none. */
  readonly loose?: number
}

/** What was derived last of one transcript: what is known of the document, whether or not it was stored since. */
export interface DerivedPointer {
  readonly parser: string
  /** The session's revision it was made at; valid without looking while that is the present one. */
  readonly revision: number
  /** Of the document, whether or not it is stored. */
  readonly bytes: number
  readonly sha256: string
  readonly problems: number
  /** Revisions tell nothing of these. */
  readonly ancestors: readonly AncestorInput[]
  readonly state: KeptState | null
  readonly document: StoredDocument | null
}

/** What of a session changes as a whole. Of a former life nothing counts. */
export interface SessionHead extends Versioned {
  readonly life: number
  /** False on a tombstone. */
  readonly alive: boolean
  /** Rises after every commit of a file, before it is acknowledged. */
  readonly revision: number
  /** Generation of the keys of derived objects (DESIGN.md, "Sweep"). */
  readonly sweep: number
  /** When a raw byte changed last, ms; null before the first. */
  readonly archived_at: number | null
  readonly created_at: number
  readonly changed_at: number
  readonly derived: DerivedPointer | null
  /** The derived part of the catalog entry, canonical JSON; written together with `derived`. */
  readonly entry: string | null
  /** As of the derivation. */
  readonly file_count: number
  readonly raw_bytes: number
  /** Raw bytes that came after it. */
  readonly pending: number
  /** Where it stands in the listing, ms; null where it is not listed. */
  readonly listed_at: number | null
  /** When maintenance is due, ms. */
  readonly due_at: number | null
  /** When the sweep may find something, ms. */
  readonly sweep_at: number | null
}

/** The newest generation of one path. */
export interface FileItem extends Versioned {
  /** From 1; 0 while its first writer has announced it and not committed yet. */
  readonly generation: number
  /** Generation of the keys of its objects (DESIGN.md, "Sweep"). */
  readonly sweep: number
  readonly tail: number
  readonly digest: string
  readonly hash_state: string
  readonly extents: Extents
  /** ms */
  readonly first_at: number
  readonly last_at: number
  /** Of a sub-agent's transcript: its document. */
  readonly derived: DerivedPointer | null
}

/** A generation as it was when the next one began; its version is that of the item it was taken from. */
export interface ClosedGeneration extends Versioned {
  readonly generation: number
  readonly tail: number
  readonly digest: string
  readonly extents: Extents
  readonly first_at: number
  readonly last_at: number
}

/** A file of a session: its path in one life. */
export interface FilePlace {
  readonly life: number
  readonly path: string
}

export interface NamedFile {
  readonly path: string
  readonly file: FileItem
}

export interface NamedGeneration {
  readonly path: string
  readonly closed: ClosedGeneration
}

export interface SessionRow {
  readonly session: SessionKey
  readonly head: SessionHead
}

/** The listing goes on behind this row. */
export interface SessionPlace {
  readonly listed_at: number
  readonly session: SessionKey
}

/** The session index. Heads, files and closed generations are read strongly. */
export interface SessionIndex {
  /** Read strongly, like files. */
  head(session: SessionKey): Promise<SessionHead | undefined>
  heads(sessions: readonly SessionKey[]): Promise<readonly (SessionHead | undefined)[]>
  /**
   * Stores the head in place of its predecessor, of the version before its own (1: of none), and says whether it did; durable
   * when it resolves. Throws `unavailable` when the outcome is not known: read and judge.
   */
  putHead(session: SessionKey, head: SessionHead): Promise<boolean>
  file(session: SessionKey, place: FilePlace): Promise<FileItem | undefined>
  /** Like `putHead`. */
  putFile(session: SessionKey, place: FilePlace, file: FileItem): Promise<boolean>
  /** Every file of a life, in one order. */
  files(session: SessionKey, life: number): AsyncIterable<NamedFile>
  closed(session: SessionKey, place: FilePlace, generation: number): Promise<ClosedGeneration | undefined>
  /** Keeps it unless one of a later version stands there. */
  putClosed(session: SessionKey, place: FilePlace, closed: ClosedGeneration): Promise<void>
  /** Every closed generation of a life, by path and then by number. */
  closedGenerations(session: SessionKey, life: number): AsyncIterable<NamedGeneration>
  /** Forgets files and generations of all lives before this one. */
  forgetFiles(session: SessionKey, before: number): Promise<void>
  /** The machines that have, or had, a session of this name. */
  machines(tenant: string, harness: SessionKey['harness'], id: string): Promise<readonly string[]>
  /** The newest first, by `listed_at`; may lag behind the heads by a moment. */
  list(tenant: string, after: SessionPlace | undefined, limit: number): Promise<readonly SessionRow[]>
  /** Sessions whose `due_at` is at or before `now`, earliest first. */
  due(now: number, limit: number): Promise<readonly SessionKey[]>
  /** Every head, tombstones included. `after` is the last session of the page before. */
  everySession(after: SessionKey | undefined, limit: number): Promise<readonly SessionKey[]>
}
