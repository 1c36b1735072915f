// The port of the objects: immutable bytes by key (ports.ts has the others).

/** Bytes of an object or of an archive. */
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

/** What a list tells of an object. */
export interface StoredObject {
  readonly key: string
  readonly length: number
  /** When it was stored, server time in ms. */
  readonly stored_at: number
}

/** Bytes of an object, and what tells its content from another. */
export interface TaggedBytes {
  readonly bytes: Uint8Array
  /** Another one when the object was stored again with other bytes, whoever did that. */
  readonly etag: string
  /** Of the whole object. */
  readonly length: number
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
  /** For what may be replaced behind our back and can be made again: the same, of the range as far as the object goes, with its tag. */
  tagged(key: string, range: ByteRange): Promise<TaggedBytes | undefined>
  /** One object of many parts, durable when it resolves. Copied parts need not travel through this process. Throws `not_found` when a source is gone. */
  compose(key: string, parts: readonly ComposePart[], facts: ObjectFacts): Promise<void>
  /** Absent keys are no error. */
  remove(keys: readonly string[]): Promise<void>
  /** For the sweep, `rebuild` and checks only: no read, append or fold path lists (P8). In key order. */
  list(prefix: string): AsyncIterable<StoredObject>
  facts(key: string): Promise<ObjectFacts | undefined>
  /** A URL that gives the object to anyone for so many seconds, as a file of that name. Only where the storage is reached from elsewhere. */
  url?(key: string, fileName: string, seconds: number): Promise<string>
}
