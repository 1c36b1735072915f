import type { Card, Lease, RunKey, Transfer, Worker } from '../schema/index.ts'

// The port of the run index: what a head is, what may be asked of it, and how it is changed (ports.ts has the others).

/** A contiguous byte range of the archive in one object, whose key is rebuilt from this and its start (keys.ts). */
export interface Extent {
  readonly length: number
  /** First 16 hex digits of the SHA-256 of its bytes; of bytes that nobody saw, a name that begins with `x` or `u` (keys.ts). */
  readonly hash: string
  /** The head's `sweep` when its object was stored. */
  readonly sweep: number
  /** Commit time, ms. */
  readonly at: number
}

/** Extents by zero-padded start offset (16 digits), so that key order is archive order. */
export type Extents = Readonly<Record<string, Extent>>

/** A derived object: some states one behind the other, and behind them perhaps an index of all that are kept. */
export interface DerivedPlace {
  readonly sweep: number
  readonly life: number
  /** The frame boundary of the newest snapshot when it was made. */
  readonly seq: number
  readonly offset: number
  /** Bytes of its states; 0 for an index alone. */
  readonly stateBytes: number
  /** Bytes of its index, behind the states; 0 where it has none. */
  readonly indexBytes: number
  /** Of the index, which knows the hash of the states; of the states where they stand alone. So no two contents share a key. */
  readonly hash: string
}

/** A lease as the head keeps it. */
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
  /** The object with the index of all snapshots, which stand up to its place (reading/snapshot-index.ts). */
  readonly snapshot: DerivedPlace | null
  /** When maintenance is due, ms; null when there is nothing to do. */
  readonly due_at: number | null
  /** From when on another may claim the run, ms, or an earlier time (claim/claimable.ts); null once it has ended. */
  readonly claim_at: number | null
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

/** Where a row stands in the listing; `created_at` in ms. */
export interface CardPlace {
  readonly created_at: number
  readonly run_id: string
}

/** Which rows of the listing are read. */
export interface CardScan {
  readonly order: 'asc' | 'desc'
  /** Exclusive; keyset by (created_at, run_id), both immutable. */
  readonly after?: CardPlace
  readonly limit: number
}

/** A run whose `claim_at` has come. It may lag behind the head, which alone decides. */
export interface WaitingRun {
  readonly run: RunKey
  /** Undefined where only the head tells. */
  readonly requires: readonly string[] | undefined
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
  /** Runs of the tenant whose `claim_at` is at or before `until`, earliest first. */
  waiting(tenant: string, until: number, limit: number): Promise<readonly WaitingRun[]>
  /** Every head, tombstones included, for the slow round of maintenance. `after` is the last run of the page before. */
  everyRun(after: RunKey | undefined, limit: number): Promise<readonly RunKey[]>
}
