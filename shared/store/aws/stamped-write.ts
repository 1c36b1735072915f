import { randomBytes } from 'node:crypto'
import type { Item } from './attribute-value.ts'
import { STAMP } from './attributes.ts'
import { isNamed, REFUSED, storageError, wasRepeated } from './sdk-error.ts'

/** Enough that no two writes of one item share a stamp. */
const STAMP_BYTES = 6

/**
 * A conditional write of one item that is given a stamp of its own to leave there; false when the condition was refused. The
 * SDK repeats a request whose answer was lost, and the repeat of one that was made is refused by its own effect; then, as
 * after any failure, the stamp on the item tells whether it was made. Another stamp tells nothing: the item may have been
 * written again since, or the write still be on its way. Throws `unavailable` or what else the failure means (sdk-error.ts).
 */
export async function stampedWrite(
  doing: string,
  write: (stamp: string) => Promise<unknown>,
  read: () => Promise<Item | undefined>,
): Promise<boolean> {
  const stamp = randomBytes(STAMP_BYTES).toString('base64url')
  try {
    await write(stamp)
    return true
  } catch (error) {
    if (isNamed(error, REFUSED) && !wasRepeated(error)) return false
    const found = await read().catch(() => undefined)
    if (found?.[STAMP]?.S === stamp) return true
    throw storageError(doing, error)
  }
}
