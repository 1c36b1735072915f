import type { RunKey } from '../../schema/index.ts'
import type { ObjectFacts } from '../objects.ts'

// The ports of direct uploads: parts that go straight to the storage, and the list of those that are open.

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

/** Parts that may never become an object, written down when they are opened, so that nothing depends on listing them. */
export interface OpenParts extends UploadPlace {
  readonly opened_at: number
  /** When maintenance aborts and forgets them, ms. */
  readonly expires_at: number
}

/** A direct upload. Its record outlives its completion: a repeated one finds the same answer. */
export interface UploadRecord extends OpenParts {
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
}

export interface UploadIndex {
  put(record: UploadRecord): Promise<void>
  get(run: RunKey, upload_id: string): Promise<UploadRecord | undefined>
  /** Absent is no error. */
  remove(run: RunKey, upload_id: string): Promise<void>
  ofRun(run: RunKey): Promise<readonly UploadRecord[]>
  /** For parts that this server fills by itself, where its storage keeps such; again with a later expiry while it goes on. */
  putParts(parts: OpenParts): Promise<void>
  /** Absent is no error. */
  removeParts(place: UploadPlace): Promise<void>
  /** Those of both kinds whose time is over, earliest first. */
  expired(now: number, limit: number): Promise<readonly (UploadRecord | OpenParts)[]>
}
