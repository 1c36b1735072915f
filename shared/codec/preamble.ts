import { RunfoldError } from '../schema/index.ts'

// LVR1.md 1: the file begins with its name and the version of its framing.
//
//   0        4       6
//   ┌────────┬───────┬──────────────
//   │ "LVR1" │ u16be │ frames …
//   └────────┴───────┴──────────────

/** Where the first frame begins. */
export const PREAMBLE_BYTES = 6
/** What a writer puts first. */
export const PREAMBLE: Uint8Array = Uint8Array.of(0x4c, 0x56, 0x52, 0x31, 0, 1)
/** Versions 0 and 1 frame alike; a higher one may not (LVR1.md 6a). */
const NEWEST_VERSION = 1

/**
 * The format version of an archive that begins with these bytes.
 *
 * @throws bad_frames with reason `truncated_preamble` (also for no bytes at all), `bad_magic` or `unsupported_version`.
 */
export function checkPreamble(bytes: Uint8Array): number {
  const refuse = (reason: string, detail: string, facts = {}) =>
    new RunfoldError('bad_frames', detail, { reason, offset: 0, frame: 0, ...facts })
  if (bytes.length === 0) throw refuse('truncated_preamble', 'the file is empty')
  const magic = Math.min(bytes.length, 4)
  for (let i = 0; i < magic; i++) {
    if (bytes[i] !== PREAMBLE[i]) throw refuse('bad_magic', 'the file does not begin with LVR1')
  }
  if (bytes.length < PREAMBLE_BYTES) {
    throw refuse(
      'truncated_preamble',
      `the preamble is truncated: ${bytes.length} of ${PREAMBLE_BYTES} bytes`,
    )
  }
  const version = ((bytes[4] as number) << 8) | (bytes[5] as number)
  if (version > NEWEST_VERSION) {
    throw refuse(
      'unsupported_version',
      `format version ${version}, this reader knows up to ${NEWEST_VERSION}`,
      { version, known: NEWEST_VERSION },
    )
  }
  return version
}
