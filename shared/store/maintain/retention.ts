import type { RunKey } from '../../schema/index.ts'
import { isLive } from '../head.ts'
import type { StoreParts } from '../parts.ts'
import type { Head } from '../ports.ts'
import { remove } from '../remove.ts'

/** Says that a run has been kept long enough; asked about every run once a day, by server time (P6). */
export type Retention = (head: Head, now: number) => boolean

/** Ended runs that nothing has changed for so long. A run that did not end is kept: somebody may carry it on. */
export const endedFor =
  (ms: number): Retention =>
  ({ ended, changed_at }, now) =>
    ended && now - changed_at >= ms

/** Deletes a run whose time is over and that nobody holds, as a person would; its objects go with the sweep. */
export async function retire(
  parts: Pick<StoreParts, 'ports' | 'clock'>,
  run: RunKey,
  head: Head,
  isOver: Retention,
): Promise<Head | undefined> {
  const isWanted = (seen: Head, now: number) => !isLive(seen.lease, now) && isOver(seen, now)
  if (!head.alive || !isWanted(head, parts.clock.now())) return head
  await remove(parts, run, { force: false, onlyIf: isWanted })
  return parts.ports.index.head(run)
}
