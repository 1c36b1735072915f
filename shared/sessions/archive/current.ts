import { type SessionKey, sessionId } from '../../schema/index.ts'
import type { AncestorInput, DerivedPointer, SessionHead } from '../../store/ports.ts'
import type { Derived } from '../adapter.ts'
import { isLiving } from './head.ts'
import type { SessionParts } from './parts.ts'

/**
 * Whether what was derived still is what would be derived now. Every commit of a file raises the revision, so at the present one
 * only files of other sessions have to be looked at.
 */
export async function isCurrent(
  parts: SessionParts,
  session: SessionKey,
  { revision }: SessionHead,
  pointer: DerivedPointer | null,
  parser: string,
): Promise<boolean> {
  if (pointer?.revision !== revision || pointer.parser !== parser) return false
  for (const ancestor of pointer.ancestors) if (!(await stands(parts, session, ancestor))) return false
  return true
}

/** Whether its document is stored, and not the one of this tag. */
export function hasDocument({ document, sha256 }: DerivedPointer, distrusted?: string): boolean {
  return document !== null && document.sha256 === sha256 && document.etag !== distrusted
}

async function stands(
  { ports: { sessions } }: SessionParts,
  session: SessionKey,
  { session: id, path, generation, tail, digest }: AncestorInput,
): Promise<boolean> {
  const ancestor = { ...session, id }
  const head = await sessions.head(ancestor)
  if (!isLiving(head)) return generation === 0
  if (generation === 0) return false
  const file = await sessions.file(ancestor, { life: head.life, path })
  return file?.generation === generation && file.tail === tail && file.digest === digest
}

export function ancestorsIn(inputs: Derived['inputs']): AncestorInput[] {
  return inputs.flatMap((input) => {
    if ('agents' in input || input.session === undefined) return []
    const { session, path } = input
    if (!sessionId.safeParse(session).success) return [] // it never comes to be archived
    if ('absent' in input) return [{ session, path, generation: 0, tail: 0, digest: '' }]
    const { generation, tail, digest } = input
    return [{ session, path, generation, tail, digest }]
  })
}
