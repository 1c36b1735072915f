import type { SessionKey } from '../../schema/index.ts'
import type { ObjectFacts } from '../../store/ports.ts'
import { keySegment, readSegment } from '../../store/session-keys.ts'

// What stands beside the object of an extent, so that the objects alone give a lost index back (rebuild.ts): the digest before
// it, and names that the key has only a hash of. S3 takes 2 KB of it and keeps plain ASCII only.

/** @param before digest of the bytes before it; undefined for what was merged of committed extents */
export function extentFacts({ id }: SessionKey, path: string, before: string | undefined): ObjectFacts {
  return {
    ...(before === undefined ? { merged: '1' } : { 'digest-before': before }),
    ...(isHashed(id) && { id: encoded(id) }),
    ...(isHashed(path) && { path: encoded(path) }),
  }
}

/** A name as its segment of the key tells, or else the facts. */
export function nameOf(segment: string, fact: string | undefined): string | undefined {
  return readSegment(segment) ?? (fact === undefined ? undefined : decoded(fact))
}

const isHashed = (name: string) => readSegment(keySegment(name)) === undefined

function encoded(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text))
  return btoa(bytes)
}

function decoded(fact: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(fact), (letter) => letter.charCodeAt(0)))
}
