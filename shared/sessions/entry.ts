import type { CatalogEntry } from '../schema/index.ts'
import type { Derived } from './adapter.ts'

/** The derived part of a session's catalog entry, with its fields in their order (SESSIONS.md 3). */
export function deriveEntry({ card, bytes, sha256 }: Derived): CatalogEntry {
  return { ...card, document: { bytes, sha256 } }
}
