import { digestOf } from '../codec/index.ts'
import type { SessionKey } from '../schema/index.ts'
import { HASH_DIGITS } from './keys.ts'

// Object keys of sessions; keys.ts has those of runs, and how an extent is spelled.
//
//   sessions/<tenant>/<harness>/<id>/<machine>/<life>/files/<path>/<generation>/<sweep>-<start>-<length>-<hash>
//   sessions/<tenant>/<harness>/<id>/<machine>/<life>/derived/<transcript>/<kind>-<sweep>-<parser>-<inputs>-<more>
//   sessions/<tenant>/<harness>/<id>/<machine>/<life>/ended                 that life was deleted
//
// Ids, paths, parsers and agents are percent-encoded outside [A-Za-z0-9._-], a leading dot too, since stores hide what begins
// so. What becomes longer than a file name may be keeps its beginning and goes on, behind a `=`, with a hash.

/** All objects of all sessions. */
export const SESSIONS_PREFIX = 'sessions/'

/** A file name has 255 bytes, of which the local store takes a quarter to tell capitals apart (local/file-name.ts). */
const SEGMENT_CHARS = 160
const LONG_HASH_DIGITS = 32
const LIFE_DIGITS = 10
const SWEEP_DIGITS = 10

const padded = (number: number, digits: number) => String(number).padStart(digits, '0')

/** Injective; `loadDigest()` must have resolved. */
export function keySegment(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const encoded = Array.from(bytes, (byte, at) => keyLetter(byte, at === 0)).join('')
  if (encoded.length <= SEGMENT_CHARS) return encoded
  const kept = encoded.slice(0, SEGMENT_CHARS - LONG_HASH_DIGITS - 1).replace(/%.?$/, '')
  return `${kept}=${digestOf(bytes).slice(0, LONG_HASH_DIGITS)}`
}

/** What `keySegment` was given; undefined where the segment has only a hash of it. */
export function readSegment(segment: string): string | undefined {
  return segment.includes('=') ? undefined : decodeURIComponent(segment)
}

function keyLetter(byte: number, isFirst: boolean): string {
  const letter = String.fromCharCode(byte)
  if (/[A-Za-z0-9_-]/.test(letter) || (letter === '.' && !isFirst)) return letter
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

/** Everything stored for one session begins so. */
export function sessionPrefix({ tenant, harness, id, machine }: SessionKey): string {
  return `${SESSIONS_PREFIX}${tenant}/${harness}/${keySegment(id)}/${machine}/`
}

function lifePrefix(session: SessionKey, life: number): string {
  return `${sessionPrefix(session)}${padded(life, LIFE_DIGITS)}/`
}

/** Stored before a life ends, so that the objects alone tell it (sessions/archive/rebuild.ts). */
export function endedKey(session: SessionKey, life: number): string {
  return `${lifePrefix(session, life)}ended`
}

/** Whose object it is, as far as the key tells; the id as its segment. Undefined for keys that are none of ours. */
export function parseSessionPath(key: string) {
  const [, prefix, tenant, harness, id, machine] = OWNER.exec(key) ?? []
  if (!prefix || !tenant || !harness || !id || !machine) return undefined
  return { prefix, tenant, harness, id, machine }
}

const OWNER = /^(sessions\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/)\d/

/** Everything stored for one path. */
export function filePrefix(session: SessionKey, { life, path }: { life: number; path: string }): string {
  return `${lifePrefix(session, life)}files/${keySegment(path)}/`
}

/** Extents of one generation stand under this. */
export function generationPrefix(
  session: SessionKey,
  place: { readonly life: number; readonly path: string },
  generation: number,
): string {
  return `${filePrefix(session, place)}${generation}/`
}

/** Derived objects of the session's own transcript; of a sub-agent's where its path is named. */
export function derivedPrefix(session: SessionKey, life: number, path?: string): string {
  const transcript = path === undefined ? 'main' : `of-${keySegment(path)}`
  return `${lifePrefix(session, life)}derived/${transcript}/`
}

/** What the key of a document or of a parser state tells. */
export interface DerivedName {
  readonly kind: 'document' | 'state'
  /** Of the item that will name it, when it was stored. */
  readonly sweep: number
  readonly parser: string
  /** Hex; of all that was looked at. */
  readonly inputs: string
  /** What else may differ: how much of an older object was copied, or a hash of the content. */
  readonly more: string
}

/** The key of a derived object under its transcript's prefix. */
export function derivedKeyIn(prefix: string, { kind, sweep, parser, inputs, more }: DerivedName): string {
  const made = `${keySegment(parser)}-${inputs.slice(0, HASH_DIGITS)}-${more}`
  return `${prefix}${kind}-${padded(sweep, SWEEP_DIGITS)}-${made}`
}

/** A part of a document under way, of which one writer knows: `name` is a random one. */
export function pieceKeyIn(prefix: string, { sweep, name }: { sweep: number; name: string }): string {
  return `${prefix}piece-${padded(sweep, SWEEP_DIGITS)}-${name}`
}

/** Where an object of a session belongs, as far as the sweep has to know. */
export type SessionObjectPlace =
  | {
      readonly kind: 'raw'
      readonly life: number
      /** The file's own prefix. */
      readonly of: string
      readonly generation: number
      readonly sweep: number
      readonly start: number
      readonly length: number
      readonly hash: string
    }
  | { readonly kind: 'ended'; readonly life: number; readonly of: string }
  | {
      readonly kind: DerivedName['kind'] | 'piece'
      readonly life: number
      /** The transcript's own prefix. */
      readonly of: string
      readonly sweep: number
    }

const RAW = /^(\d{10,16})\/files\/[^/]+\/(\d+)\/(\d{10,16})-(\d{16})-(\d{1,16})-([^/]+)$/
const ENDED = /^(\d{10,16})\/ended$/
const DERIVED = /^(\d{10,16})\/derived\/[^/]+\/(document|state|piece)-(\d{10,16})-[^/]+$/

/** @returns undefined for keys that are none of ours. */
export function placeOfObject(session: SessionKey, key: string): SessionObjectPlace | undefined {
  const prefix = sessionPrefix(session)
  if (!key.startsWith(prefix)) return undefined
  const rest = key.slice(prefix.length)
  const raw = RAW.exec(rest)
  if (raw) {
    const [life, generation, sweep, start, length] = raw.slice(1, 6).map(Number) as Five
    const of = prefix + rest.split('/').slice(0, 3).join('/')
    return { kind: 'raw', life, of: `${of}/`, generation, sweep, start, length, hash: raw[6] as string }
  }
  const [, ended] = ENDED.exec(rest) ?? []
  if (ended !== undefined) return { kind: 'ended', life: Number(ended), of: key }
  const derived = DERIVED.exec(rest)
  if (!derived) return undefined
  const [, life, kind, sweep] = derived as unknown as [string, string, DerivedName['kind'] | 'piece', string]
  return { kind, life: Number(life), of: key.slice(0, key.lastIndexOf('/') + 1), sweep: Number(sweep) }
}

type Five = [number, number, number, number, number]
