import {
  checkPreamble,
  type Digest,
  EMPTY_DIGEST,
  extendDigest,
  loadDigest,
  PREAMBLE,
} from '../../codec/index.ts'
import type { VerifyAnswer } from '../../schema/index.ts'
import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { isHashOfBytes } from '../keys.ts'
import type { Extent } from '../ports.ts'
import { FrameCount } from './frame-count.ts'
import { pastTheEnd } from './state-at.ts'
import type { ArchiveView } from './view.ts'
import { extentsInOrder } from './view.ts'

type Problem = VerifyAnswer['problems'][number]

/** The part of the range that lies in one extent, or in none where the head leaves a hole. */
interface Part {
  readonly start: number
  readonly end: number
  /** Set when all of the extent is in the range, so that its hash can be checked. */
  readonly whole?: Extent
}

/**
 * Reads every byte of a range (default: all) from the storage, a piece at a time, and says what is wrong with it. A range
 * begins and ends between frames; another end shows as a `torn_frame`. Codes: `unreadable_bytes` (an object is gone or
 * short), `changed_bytes` (its hash is another), `torn_frame`, `bad_preamble`, `digest_mismatch` (the archive as a whole).
 * Unreadable frames are sound bytes, and were counted when they were appended; of a range nobody has counted them.
 */
export async function verifyAnswer(
  view: ArchiveView,
  { from = 0, to = view.head.tail }: { from?: number | undefined; to?: number | undefined },
): Promise<VerifyAnswer> {
  const { tail, digest, unreadable } = view.head
  const isWhole = from === 0 && to === tail
  if (Math.max(from, to) > tail) throw pastTheEnd(tail, `${tail} bytes`)
  if (from > to) {
    throw new RunfoldError('bad_request', 'from is after to', {
      issues: [{ path: 'from', message: `at most ${to}` }],
    })
  }
  await loadDigest()
  const problems: Problem[] = []
  const hash = new RunningDigest()
  let bytes = 0
  let frames = 0
  for (const part of partsOf(view, from, to)) {
    const checked = await checkPart(view, part, hash)
    bytes += checked.bytes
    frames += checked.frames
    problems.push(...checked.problems)
  }
  if (problems.length === 0 && isWhole && hash.digest !== digest) {
    problems.push(
      problem(0, tail, 'digest_mismatch', `the bytes have digest ${hash.digest}, the head says ${digest}`),
    )
  }
  const counted = isWhole ? { unreadable_frames: unreadable } : {}
  return { ok: problems.length === 0, bytes, frames, digest: hash.digest, problems, ...counted }
}

async function checkPart(view: ArchiveView, { start, end, whole }: Part, hash: RunningDigest) {
  const problems: Problem[] = []
  const own = new RunningDigest()
  const count = new FrameCount()
  let framesStart = start
  let position = start
  try {
    for await (const chunk of view.bytes(start, end)) {
      hash.update(chunk)
      if (whole) own.update(chunk)
      if (position === 0) {
        problems.push(...preambleProblems(chunk, end))
        framesStart = PREAMBLE.length
      }
      count.push(position === 0 ? chunk.subarray(PREAMBLE.length) : chunk)
      position += chunk.length
    }
  } catch (error) {
    if (!isRunfoldError(error, 'internal')) throw error
    problems.push(problem(position, end, 'unreadable_bytes', error.message))
  }
  if (position === end) {
    if (whole && isHashOfBytes(whole.hash) && !own.digest.startsWith(whole.hash)) {
      problems.push(problem(start, end, 'changed_bytes', `the object's hash is not ${whole.hash} any more`))
    }
    if (!count.isAtBoundary) {
      problems.push(
        problem(framesStart + count.wholeBytes, end, 'torn_frame', 'the bytes do not end with a frame'),
      )
    }
  }
  return { bytes: position - start, frames: count.frames, problems }
}

function preambleProblems(chunk: Uint8Array, end: number): Problem[] {
  try {
    checkPreamble(chunk)
    return []
  } catch (error) {
    if (!isRunfoldError(error, 'bad_frames')) throw error
    const isCut = error.facts.reason === 'truncated_preamble'
    const [length, code] = isCut
      ? ([end, 'torn_frame'] as const)
      : ([PREAMBLE.length, 'bad_preamble'] as const)
    return [problem(0, Math.min(length, end), code, error.message)]
  }
}

function* partsOf(view: ArchiveView, from: number, to: number): Generator<Part> {
  let position = from
  for (const [start, extent] of extentsInOrder(view.head)) {
    const extentEnd = start + extent.length
    if (extentEnd <= position || start >= to) continue
    if (start > position) yield { start: position, end: start }
    const part = { start: Math.max(start, position), end: Math.min(extentEnd, to) }
    yield part.start === start && part.end === extentEnd ? { ...part, whole: extent } : part
    position = part.end
  }
  if (position < to) yield { start: position, end: to }
}

/** SHA-256 continued chunk by chunk; several may be open at once. */
class RunningDigest {
  digest: string = EMPTY_DIGEST
  #state: string | null = null

  update(chunk: Uint8Array): void {
    const next = extendDigest(this.#state, [chunk]) as Digest // a state of our own is always known
    this.digest = next.digest
    this.#state = next.state
  }
}

const problem = (offset: number, end: number, code: string, detail: string): Problem => ({
  offset,
  length: end - offset,
  code,
  detail,
})
