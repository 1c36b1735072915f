import { EMPTY_DIGEST } from '../../codec/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import { extentName } from '../../store/keys.ts'
import type { ClosedGeneration, FileItem } from '../../store/ports.ts'
import { successor } from './items.ts'

// The rules of a file and its generations (SESSIONS.md 1 and 1.2). Pure: file, request → what is to be done, or a refusal.

/** At so many extents merging has fallen behind, and appends wait for it. */
const MAX_EXTENTS = 512

export interface FileAppend {
  readonly path: string
  readonly generation: number
  readonly offset: number
  /** Cut anywhere; none at the beginning of a generation make an empty file known. */
  readonly bytes: Uint8Array
}

export const NO_FILE: FileItem = {
  version: 0,
  generation: 0,
  sweep: 0,
  tail: 0,
  digest: EMPTY_DIGEST,
  hash_state: '',
  extents: {},
  first_at: 0,
  last_at: 0,
  derived: null,
}

/** What a client needs to mend its position. A file that is not known has generation 0. */
export function positionOf({ tail, digest, generation }: FileItem) {
  return { tail, digest, generation }
}

/**
 * `begin`: the next generation begins; `append`: at the tail; `stored`: before it, so the bytes are there already or differ.
 *
 * @throws gap, slow_down
 */
export function judge(
  file: FileItem,
  { generation, offset, bytes }: FileAppend,
): 'begin' | 'append' | 'stored' {
  if (generation === file.generation + 1 && offset === 0) return 'begin'
  if (generation !== file.generation || file.generation === 0) {
    const found = file.generation === 0 ? 'the file is not known' : `the generation is ${file.generation}`
    const detail = `${found}, the request came with ${generation}; the next one begins at offset 0`
    throw new RunfoldError('gap', detail, positionOf(file))
  }
  if (offset > file.tail) {
    throw new RunfoldError('gap', `the file ends at ${file.tail}, before ${offset}`, positionOf(file))
  }
  if (offset < file.tail || bytes.length === 0) return 'stored'
  if (Object.keys(file.extents).length < MAX_EXTENTS) return 'append'
  throw new RunfoldError('slow_down', 'merging has fallen behind', { retry_after_s: 1 })
}

/** Claims the path for a writer, so that the sweep knows whose an object is before it is stored. */
export function announced(file: FileItem): FileItem {
  return successor(file, {})
}

interface Addition {
  readonly offset: number
  readonly length: number
  readonly hash: string
  /** Of the generation with the addition, and its saved state. */
  readonly digest: string
  readonly state: string
}

/** @param added what is appended at the tail */
export function grown(file: FileItem, added: Addition, now: number): FileItem {
  const { offset, length, hash, digest, state } = added
  const extent = { length, hash, sweep: file.sweep, at: now }
  return successor(file, {
    tail: offset + length,
    digest,
    hash_state: state,
    extents: length === 0 ? file.extents : { ...file.extents, [extentName(offset)]: extent },
    last_at: now,
  })
}

/** The next generation with its first bytes. What was derived from the one before stays until it is derived again. */
export function begun(file: FileItem, added: Addition, now: number): FileItem {
  const { version, generation } = file
  const next = { ...file, version, generation: generation + 1, extents: {}, first_at: now }
  return grown(next, added, now)
}

/** The generation that is about to be left. */
export function closing({
  version,
  generation,
  tail,
  digest,
  extents,
  first_at,
  last_at,
}: FileItem): ClosedGeneration {
  return { version, generation, tail, digest, extents, first_at, last_at }
}
