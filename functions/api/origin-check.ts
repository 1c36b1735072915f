import { createHash, timingSafeEqual } from 'node:crypto'
import { RunfoldError } from '#schema'
import type { Clock } from '#store'
import { ORIGIN_SECRET_HEADER } from '../env.ts'

/** A secret that was changed is seen this long after, however often it is guessed at. */
const LOOK_AGAIN_MS = 60_000

/**
 * Lets in only what shows the secret that the distribution before us adds to every request, so that nobody goes around
 * its firewall.
 *
 * @param given the secret, or an ARN under which `read` finds it
 */
export function createOriginCheck(
  given: string,
  read: (arn: string) => Promise<string>,
  clock: Clock,
): (headers: Headers) => Promise<void> {
  const isArn = given.startsWith('arn:')
  let known = isArn ? undefined : { hash: hashOf(given), at: Number.POSITIVE_INFINITY }

  const look = async () => {
    known = { hash: hashOf(await read(given)), at: clock.now() }
    return known
  }
  return async (headers) => {
    const shown = hashOf(headers.get(ORIGIN_SECRET_HEADER) ?? '')
    const { hash, at } = known ?? (await look())
    if (timingSafeEqual(shown, hash)) return
    if (at + LOOK_AGAIN_MS <= clock.now() && timingSafeEqual(shown, (await look()).hash)) return
    throw new RunfoldError('forbidden', 'requests come in by the front door only')
  }
}

/** Of one length, whatever is shown. */
const hashOf = (text: string) => createHash('sha256').update(text).digest()
