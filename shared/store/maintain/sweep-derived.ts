import type { RunKey } from '../../schema/index.ts'
import { derivedKey, parseDerivedKey } from '../keys.ts'
import { viewOf } from '../parts.ts'
import type { Head, StoredObject, StorePorts } from '../ports.ts'
import { snapshotsOf } from '../reading/snapshots.ts'
import type { Garbage } from './sweep.ts'

// What the sweep has to know of snapshots: the head names the object with the newest index, and the index names all that
// hold states. An index that cannot be read names none; they go like other garbage, for they can be made again.

export async function derivedNames(ports: StorePorts, run: RunKey, head: Head): Promise<string[]> {
  if (!head.alive || !head.snapshot) return []
  const { entries } = await snapshotsOf(viewOf(ports, run, head))
  const places = [head.snapshot, ...entries.map(({ object }) => object)]
  return [...new Set(places.map((place) => derivedKey(run, place)))]
}

/** What an index names, and itself, may be wanted by whoever has read the head before, for a while after the next one was stored. */
export function derivedGarbage(
  run: RunKey,
  head: Head,
  listed: readonly StoredObject[],
  named: ReadonlySet<string>,
  graceMs: number,
): Garbage[] {
  const newestFirst = listed
    .flatMap(({ key, stored_at }) => {
      const place = parseDerivedKey(run, key)
      return place ? [{ ...place, key, stored_at }] : []
    })
    .sort((a, b) => b.seq - a.seq || b.stored_at - a.stored_at)
  const garbage: Garbage[] = []
  let replaced_at = 0
  for (const { key, sweep, stored_at, indexBytes } of newestFirst) {
    const unwanted = Math.max(stored_at, replaced_at)
    const since = head.alive ? Math.max(unwanted, head.created_at) : head.changed_at
    if (!named.has(key)) garbage.push({ key, sweep, free_at: since + graceMs })
    if (indexBytes > 0) replaced_at = stored_at
  }
  return garbage
}
