import type { Clock, UploadIndex, UploadPlace } from '../ports.ts'

// A process that dies while it fills a multipart upload leaves parts that are paid for and that nobody sees. So each is
// written down while it is open, and maintenance aborts those of which nothing was heard for long (uploads/cleanup.ts).

/** Longer than any one part takes with all its repeats, which is all that passes between two signs of life. */
const SILENCE_MS = 3_600_000

/** Where uploads are written down, and by which time. */
export interface PartsLog {
  readonly index: Pick<UploadIndex, 'putParts' | 'removeParts'>
  readonly clock: Clock
}

/**
 * Fills and completes an upload that was just opened. It is written down before its first part, since without parts it costs
 * nothing, and again whenever half its time is over; so one that goes on is never aborted, however long it takes.
 *
 * What failed stays written down although it was aborted: a part that is still under way to the storage may arrive after that.
 *
 * @param fill is to call `goesOn` after every part
 */
export async function whileOpen(
  { index, clock }: PartsLog,
  place: UploadPlace,
  fill: (goesOn: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const opened_at = clock.now()
  let expires_at = opened_at + SILENCE_MS
  await index.putParts({ ...place, opened_at, expires_at })
  await fill(async () => {
    const now = clock.now()
    if (expires_at - now > SILENCE_MS / 2) return
    expires_at = now + SILENCE_MS
    await index.putParts({ ...place, opened_at, expires_at })
  })
  // What is complete has nothing left to abort, so a record that stays is harmless.
  await index.removeParts(place).catch(() => {})
}
