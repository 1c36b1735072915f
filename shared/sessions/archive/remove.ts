import { loadDigest } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import { endedKey } from '../../store/session-keys.ts'
import { endLife, isLiving, livingHead } from './head.ts'
import { changeHead } from './items.ts'
import type { SessionParts } from './parts.ts'

/**
 * Leaves a tombstone: no commit of a file is acknowledged once its life has ended. What it leaves, items and objects, goes with
 * maintenance.
 *
 * @throws not_found
 */
export async function removeSession(parts: SessionParts, session: SessionKey): Promise<void> {
  const { life } = await livingHead(parts, session)
  await loadDigest()
  await parts.ports.objects.put(endedKey(session, life), [], {})
  // Where it is gone already, this commit was made and its answer lost, or someone else asked for the same.
  await changeHead(parts, session, (head, now) =>
    head?.alive && head.life === life ? endLife(head, now) : undefined,
  )
}

/**
 * The machine whose session is meant: the one that is named, or the only one that has a session of this name.
 *
 * @throws bad_request naming the machines where there are several, not_found
 */
export async function machineOf(
  { ports: { sessions } }: SessionParts,
  { tenant, harness, id }: Omit<SessionKey, 'machine'>,
  machine: string | undefined,
): Promise<SessionKey> {
  if (machine !== undefined) return { tenant, harness, id, machine }
  const named = (await sessions.machines(tenant, harness, id)).map((found) => ({
    tenant,
    harness,
    id,
    machine: found,
  }))
  const heads = await sessions.heads(named)
  const living = named.filter((_, n) => isLiving(heads[n]))
  const [only, ...more] = living
  if (!only) throw new RunfoldError('not_found', 'there is no such session')
  if (more.length === 0) return only
  const issues = living.map((found) => ({
    path: 'machine',
    message: `${found.machine} has a session of this name`,
  }))
  throw new RunfoldError('bad_request', 'several machines have a session of this name: say machine=', {
    issues,
  })
}
