import type { SessionLineage } from '../../schema/index.ts'
import type { FileVersion, SessionFiles } from '../adapter.ts'
import type { ValueMap } from '../exact-json.ts'
import { kept } from '../facts.ts'
import type { Transcript } from '../parser.ts'
import type { SavedMap } from '../state.ts'
import { msOf } from '../time.ts'
import { mapOf } from '../values.ts'
import { AncestorRecords, recordAt } from './ancestor.ts'
import { identityOf, metaId } from './identity.ts'

// A fork begins with records copied from its ancestor, stamped anew. Their messages are shown; what they used is the
// ancestor's (SESSIONS.md 4.2, forks and spawns).

/** Where the ancestor is not at hand, copies are told by their time: so long copying may take, ms. */
const COPYING_MS = 5000

/** What of a session's beginning was copied. */
export class Fork {
  readonly #transcript: Transcript
  #forkedFrom: string | undefined
  #parent: string | undefined
  /** Time of the own first record, Unix ms. */
  #begunAt: number | undefined
  /** Whether the second record is the ancestor's own session_meta. */
  #embedded = false
  #anyCopied = false
  /** Whether the run of copies is over, for good. */
  #over = false
  /** The record that ended it (`identityOf`). */
  #refused: string | undefined
  #boundary: 'parent' | 'clock' | undefined
  #records: AncestorRecords | undefined

  constructor(transcript: Transcript, saved?: SavedMap) {
    this.#transcript = transcript
    if (saved === undefined) return
    this.#forkedFrom = saved.text('forked_from')
    this.#parent = saved.text('parent')
    this.#begunAt = saved.fields.has('begun_at') ? saved.int('begun_at') : undefined
    this.#embedded = saved.int('embedded') === 1
    this.#anyCopied = saved.int('any_copied') === 1
    this.#over = saved.int('over') === 1
    this.#refused = saved.text('refused')
    const boundary = saved.text('boundary')
    if (boundary === 'parent' || boundary === 'clock') this.#boundary = boundary
    if (this.#ancestor !== undefined) {
      this.#records = new AncestorRecords(transcript, this.#ancestor, saved.map('records'))
    }
  }

  /** Takes the first record, which says where the session comes from. */
  begin(record: ValueMap): void {
    this.#begunAt = msOf(record.get('timestamp'))
    if (record.get('type') === 'session_meta') {
      const meta = mapOf(record.get('payload'))
      const spawn = mapOf(mapOf(mapOf(meta.get('source')).get('subagent')).get('thread_spawn'))
      this.#forkedFrom = kept(meta.get('forked_from_id'))
      this.#parent = kept(spawn.get('parent_thread_id'))
    }
    if (this.#ancestor === undefined) this.#over = true
    else this.#records = new AncestorRecords(this.#transcript, this.#ancestor)
  }

  /** Whether nothing that follows can be a copy. */
  get isOver(): boolean {
    return this.#over
  }

  /** Whether a later record is a copy; to be asked of each until the run is over. */
  async isCopied(record: ValueMap): Promise<boolean> {
    const copied = this.#boundary === undefined ? await this.#second(record) : await this.#goesOn(record)
    if (copied) this.#anyCopied = true
    else {
      this.#over = true
      this.#refused = identityOf(record)
      await this.close()
    }
    return copied
  }

  /** What a document says of it; `embedded` is the number of messages that copies gave. */
  lineage(embedded: number): SessionLineage | undefined {
    if (this.#ancestor === undefined) return undefined
    const copies = this.#anyCopied ? { embedded_messages: embedded, boundary: this.#boundary } : {}
    return { forked_from: this.#forkedFrom, parent: this.#parent, ...copies } as SessionLineage
  }

  save(): unknown {
    return {
      forked_from: this.#forkedFrom,
      parent: this.#parent,
      begun_at: this.#begunAt,
      embedded: Number(this.#embedded),
      any_copied: Number(this.#anyCopied),
      over: Number(this.#over),
      refused: this.#refused,
      boundary: this.#boundary,
      records: this.#records?.save(),
    }
  }

  async close(): Promise<void> {
    await this.#records?.close()
  }

  get #ancestor(): string | undefined {
    return this.#forkedFrom ?? this.#parent
  }

  async #second(record: ValueMap): Promise<boolean> {
    this.#boundary = (await this.#records?.isArchived()) ? 'parent' : 'clock'
    this.#embedded = metaId(record) === this.#ancestor
    return this.#embedded || this.#goesOn(record)
  }

  async #goesOn(record: ValueMap): Promise<boolean> {
    if (this.#boundary === 'clock') return this.#isInTime(record)
    const next = await this.#records?.next()
    return next !== undefined && identityOf(next) === identityOf(record)
  }

  #isInTime(record: ValueMap): boolean {
    const at = msOf(record.get('timestamp'))
    if (at === undefined || this.#begunAt === undefined) return false
    return this.#embedded ? at <= this.#begunAt + COPYING_MS : at < this.#begunAt
  }
}

/**
 * Whether a saved run of copies ends where it did, now that the ancestor has grown. One that met another record does; one that
 * met the end of the ancestor's file does unless the file goes on as the fork did.
 */
export async function endsTheSame(saved: SavedMap, files: SessionFiles, file: FileVersion): Promise<boolean> {
  const records = saved.map('records')
  if (records.int('ended') === 0) return true
  const next = await recordAt(files, file, records.int('offset'))
  return next === undefined || identityOf(next) !== saved.text('refused')
}
