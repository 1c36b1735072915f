import type { Card, Lease, RunKey, Scope, Transfer, Worker } from '../schema/index.ts'

// The two doors to storage. Logic stands above them, translation below; the contract suite in test/kit/store-contract.ts
// holds every adapter to what is promised here.

/** Passed in everywhere, so that tests need no sleeps and no promise depends on the machine's clock by accident (P6). */
export interface Clock {
  /** Server time in milliseconds since 1970. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

// Objects -----------------------------------------------------------------------------------------------------------

export interface ByteRange {
  readonly start: number
  /** exclusive */
  readonly end: number
}

/** What a composed object is made of, in order: ranges of stored objects, and bytes of our own. */
export type ComposePart =
  | { readonly copy: string; readonly range: ByteRange }
  | { readonly bytes: Uint8Array }

/** Small texts stored beside an object, enough to rebuild the index from the bucket (DESIGN.md, Rebuild). */
export type ObjectFacts = Readonly<Record<string, string>>

export interface StoredObject {
  readonly key: string
  readonly length: number
  /** When it was stored, server time in ms. */
  readonly stored_at: number
}

/**
 * Immutable objects by key. A key is written with one content only, so a repeated put is harmless. Every method throws
 * `unavailable` when the outcome is not known.
 */
export interface Objects {
  /** Resolves when the bytes are durable (P2). */
  put(key: string, chunks: readonly Uint8Array[], facts: ObjectFacts): Promise<void>
  /** The bytes of the range (default: all); undefined when there is no such object. Never fewer bytes than asked for. */
  get(key: string, range?: ByteRange): Promise<Uint8Array | undefined>
  /** One object of many parts, durable when it resolves. Copied parts need not travel through this process. Throws `not_found` when a source is gone. */
  compose(key: string, parts: readonly ComposePart[], facts: ObjectFacts): Promise<void>
  /** Absent keys are no error. */
  remove(keys: readonly string[]): Promise<void>
  /** For the sweep, `rebuild` and checks only: no read, append or fold path lists (P8). In key order. */
  list(prefix: string): AsyncIterable<StoredObject>
  facts(key: string): Promise<ObjectFacts | undefined>
}

// The run index -----------------------------------------------------------------------------------------------------

/** A contiguous byte range of the archive in one object, whose key is rebuilt from this and its start (keys.ts). */
export interface Extent {
  readonly length: number
  /** First 16 hex digits of the SHA-256 of its bytes. */
  readonly hash: string
  /** The head's `sweep` when its object was stored. */
  readonly sweep: number
  /** Commit time, ms. */
  readonly at: number
}

/** Extents by zero-padded start offset (16 digits), so that key order is archive order. */
export type Extents = Readonly<Record<string, Extent>>

export interface HeadLease extends Omit<Lease, 'expires_at'> {
  /** ms */
  readonly expires_at: number
}

/** Whose first `seq` frames a fork began with; by this the same request is known again. The source may be long gone. */
export interface Origin {
  readonly run_id: string
  readonly life: number
  readonly seq: number
}

/** The card's members that move with every tick; they stand in the head so that an append need not touch the card. */
export type Ticks = Pick<
  Card,
  | 'current_stage'
  | 'iteration'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cached_tokens'
  | 'cache_write_tokens'
  | 'tool_calls'
  | 'updated_at'
>

/** The run's one mutable truth (DESIGN.md, The head). */
export interface Head {
  /** The epoch at which this run_id was made; another life is another run. */
  readonly life: number
  /** False on a tombstone, which keeps `life`, `epoch` and `sweep` for good. */
  readonly alive: boolean
  readonly epoch: number
  readonly sweep: number
  /** Null when nobody holds the run (released, or a tombstone). An expired lease still names its holder. */
  readonly lease: HeadLease | null
  /** How the present or last holder came by its epoch. */
  readonly holder: Transfer | null
  /** The holder before that one. */
  readonly previous: Worker | null
  readonly requires: readonly string[]
  /** Of a fork. */
  readonly origin: Origin | null
  readonly tail: number
  readonly frames: number
  readonly points: number
  readonly unreadable: number
  /** Lower-case hex SHA-256 of archive bytes 0..tail. */
  readonly digest: string
  /** Saved SHA-256 state at the tail, versioned text (codec/digest.ts); one of an unknown version is computed again. */
  readonly hash_state: string
  /** Whether the first readable record is a Header: null while there is none. */
  readonly headed: boolean | null
  readonly ticks: Ticks
  /** The tail at which the card last changed: a card row of another tail is stale and derived again. */
  readonly card_tail: number
  /** Whether the newest status is a terminal one. */
  readonly ended: boolean
  readonly extents: Extents
  /** The newest snapshot's place and the key of the index that lists them all, itself last (reading/snapshot-index.ts). */
  readonly snapshot: { readonly seq: number; readonly offset: number; readonly key: string } | null
  /** When maintenance is due, ms; null when there is nothing to do. */
  readonly due_at: number | null
  /** When the sweep may find something to remove, ms; null when nothing is known to wait. */
  readonly sweep_at: number | null
  readonly created_at: number
  readonly changed_at: number
}

/**
 * What must hold of the stored head for a change to be made: equality of each member that is named. `absent` means that
 * there is no item at all. `held` asks whether there is a lease, live or expired. `extents` names entries that must
 * still be there exactly so.
 */
export interface Expectation {
  readonly absent?: true
  readonly alive?: boolean
  readonly life?: number
  readonly epoch?: number
  readonly tail?: number
  readonly sweep?: number
  readonly held?: boolean
  readonly lease_expires_at?: number | null
  readonly due_at?: number | null
  readonly extents?: Extents
}

/** Members to overwrite, extents to add and (by start) to take away; everything else stays. */
export interface HeadChange {
  readonly set: Partial<Omit<Head, 'extents'>>
  readonly add?: Extents
  readonly drop?: readonly string[]
  /** All extents at once, for a new life and a tombstone; excludes add and drop. */
  readonly extents?: Extents
}

/** The card's slow members, what listings filter by; kept apart from the head. Texts are cut to 1 KB. */
export interface CardRow {
  readonly run: RunKey
  readonly life: number
  /** The tail it was derived at; an older one never replaces a newer (life, tail). */
  readonly tail: number
  readonly created_at: number
  readonly card: Omit<Card, keyof Ticks>
  /** Searched, not shown. */
  readonly workdir: string | null
}

export interface CardPlace {
  readonly created_at: number
  readonly run_id: string
}

export interface CardScan {
  readonly order: 'asc' | 'desc'
  /** Exclusive; keyset by (created_at, run_id), both immutable. */
  readonly after?: CardPlace
  readonly limit: number
}

/**
 * The run index: one head, one card and a few transfers per run. Heads are read strongly; a commit is one conditional
 * update of one item, and nothing here needs a transaction over several.
 */
export interface RunIndex {
  head(run: RunKey): Promise<Head | undefined>
  heads(runs: readonly RunKey[]): Promise<readonly (Head | undefined)[]>
  /**
   * Makes the change if the expectation holds and says whether it did; durable when it resolves (P2). With `absent`,
   * `change` sets every member. `card` is written after the head, at once where the store can, and is repaired by
   * maintenance where a crash came between. Throws `unavailable` when the outcome is not known: read the head and judge.
   */
  commit(run: RunKey, expect: Expectation, change: HeadChange, card?: CardRow): Promise<boolean>
  card(run: RunKey): Promise<CardRow | undefined>
  /** Takes a card of this life or an older one out of the listing. */
  removeCard(run: RunKey, life: number): Promise<void>
  /** Strongly ordered by (created_at, run_id); every row that exists throughout a walk is seen exactly once. */
  cards(tenant: string, scan: CardScan): Promise<readonly CardRow[]>
  /** Kept by epoch; the same again is harmless. Those more than `LEASE_HISTORY_MAX` epochs older may be forgotten. */
  putTransfer(run: RunKey, transfer: Transfer): Promise<void>
  /** Newest first. */
  transfers(run: RunKey, limit: number): Promise<readonly Transfer[]>
  /** Runs whose `due_at` is at or before `now`, earliest first. */
  due(now: number, limit: number): Promise<readonly RunKey[]>
  /** Every head, tombstones included, for the slow round of maintenance. `after` is the last run of the page before. */
  everyRun(after: RunKey | undefined, limit: number): Promise<readonly RunKey[]>
}

// Tokens ------------------------------------------------------------------------------------------------------------

export interface StoredToken {
  readonly token_id: string
  /** Lower-case hex SHA-256 of the token; the token itself is nowhere. */
  readonly hash: string
  readonly name: string
  readonly tenant: string
  readonly scopes: readonly Scope[]
  readonly run_prefix: string | null
  /** ms */
  readonly expires_at: number | null
  readonly created_at: number
  readonly last_used_at: number | null
}

export interface TokenIndex {
  put(token: StoredToken): Promise<void>
  byHash(hash: string): Promise<StoredToken | undefined>
  /** Oldest first. */
  list(tenant: string): Promise<readonly StoredToken[]>
  /** False when the tenant has no such token. */
  remove(tenant: string, token_id: string): Promise<boolean>
  touch(hash: string, last_used_at: number): Promise<void>
}

// Direct uploads ----------------------------------------------------------------------------------------------------

/** Where an upload goes: the key of its object to be, and what the storage calls the upload. */
export interface UploadPlace {
  readonly key: string
  readonly storage_id: string
}

/** A part as it was stored; `etag` is what the PUT answered. */
export interface StoredPart {
  readonly part_number: number
  readonly etag: string
  readonly length: number
}

/** What the URL of a part says, on a server that keeps parts itself. */
export interface SignedPart {
  readonly storage_id: string
  readonly part_number: number
  readonly length: number
  /** ms */
  readonly expires: number
  readonly signature: string
}

/** Objects whose bytes come in parts from elsewhere. Nothing is to be seen of one before it is complete. */
export interface Uploads {
  readonly maxPartBytes: number
  /** @returns what the storage calls it; the facts will stand beside the object. */
  open(key: string, facts: ObjectFacts): Promise<string>
  /** A URL that takes a PUT of exactly so many bytes for so many seconds; a relative one leads to this server. */
  partUrl(
    place: UploadPlace,
    part: { readonly part_number: number; readonly length: number },
    seconds: number,
  ): Promise<string>
  /**
   * Resolves when the object stands, by this call or an earlier one. Throws `not_found` when there is no such upload any
   * more, `bad_request` when a part is not stored under its ETag.
   */
  complete(place: UploadPlace, parts: readonly StoredPart[]): Promise<void>
  /** Nothing is left of the parts when it resolves; an upload that is complete or gone is no error. */
  abort(place: UploadPlace): Promise<void>
  /** Only where parts come to this server. */
  readonly own?: OwnParts
}

/** The server's side of the URLs it has signed. */
export interface OwnParts {
  /** Throws `forbidden` where we did not sign this or its time is over, `not_found` where there is no such upload. */
  check(part: SignedPart): Promise<void>
  /** Keeps a part that was checked. @returns its ETag, quoted */
  put(part: SignedPart, bytes: Uint8Array): Promise<string>
}

/**
 * A direct upload, written down when it is opened, so that nothing depends on listing them. It outlives its completion:
 * a repeated one finds the same answer.
 */
export interface UploadRecord extends UploadPlace {
  readonly upload_id: string
  readonly run: RunKey
  /** The writer's life and epoch at the opening. */
  readonly life: number
  readonly epoch: number
  /** Archive position and length of the batch. */
  readonly offset: number
  readonly length: number
  /** Lower-case hex SHA-256 of the batch, as announced. */
  readonly sha256: string
  /** The generation in the key. */
  readonly sweep: number
  readonly part_bytes: number
  readonly opened_at: number
  /** When maintenance aborts and forgets it, ms. */
  readonly expires_at: number
}

export interface UploadIndex {
  put(record: UploadRecord): Promise<void>
  get(run: RunKey, upload_id: string): Promise<UploadRecord | undefined>
  /** Absent is no error. */
  remove(run: RunKey, upload_id: string): Promise<void>
  ofRun(run: RunKey): Promise<readonly UploadRecord[]>
  /** Those whose time is over, earliest first. */
  expired(now: number, limit: number): Promise<readonly UploadRecord[]>
}

export interface StorePorts {
  readonly objects: Objects
  readonly index: RunIndex
  readonly tokens: TokenIndex
  readonly uploads: Uploads
  readonly uploadIndex: UploadIndex
}

/** A store that this process holds open and nobody else may open meanwhile. */
export interface LocalStore {
  readonly ports: StorePorts
  /** Resolves with the reason when what was written can no longer be trusted to be durable: the process must end. */
  readonly broken: Promise<unknown>
  close(): void
}
