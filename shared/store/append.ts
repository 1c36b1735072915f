import { digestOf, extendDigest, loadDigest, PREAMBLE_BYTES, walkFrames } from '../codec/index.ts'
import type { AppendAnswer, RunKey } from '../schema/index.ts'
import { RunfoldError } from '../schema/index.ts'
import { type Batch, cardAfter, heard, readBatch } from './batch.ts'
import { currentCard } from './card-row.ts'
import { type Addition, commitAddition, factsOf, type Gain } from './commit.ts'
import { HASH_DIGITS, objectKey } from './keys.ts'
import { type StoreParts, viewOf } from './parts.ts'
import type { Head } from './ports.ts'
import type { ArchiveView } from './reading/view.ts'
import { digestUpTo } from './replay.ts'

/** What is appended, where, and under which epoch. */
export interface AppendRequest {
  readonly offset: number
  readonly epoch: number
  /** Whole frames, decoded; with the preamble first at offset 0. */
  readonly bytes: Uint8Array
}

/** DESIGN.md, "Append" 1, and then the commit of a batch that is in memory. */
export async function append(parts: StoreParts, run: RunKey, request: AppendRequest): Promise<AppendAnswer> {
  const { clock, limits } = parts
  if (request.bytes.length > limits.max_batch_bytes) {
    throw new RunfoldError('too_large', `a batch of ${request.bytes.length} bytes`, { ...limits })
  }
  await loadDigest()
  const batch = await readBatch(request.bytes, request.offset, () => clock.sleep(0))
  return commitAddition(parts, run, { epoch: request.epoch }, additionOf(parts, run, batch))
}

function additionOf(parts: StoreParts, run: RunKey, batch: Batch): Addition {
  const { bytes, offset, end } = batch
  const hash = digestOf(bytes).slice(0, HASH_DIGITS)
  return {
    offset,
    end,
    hash,
    store: (head) => {
      const key = objectKey(run, offset, { length: bytes.length, hash, sweep: head.sweep })
      return parts.ports.objects.put(key, [bytes], factsOf(head, offset))
    },
    gain: (head) => gainOf(parts, run, head, batch),
    isStored: async (view) => {
      const { tail } = view.head
      if (!(await hasBytes(view, batch, Math.min(end, tail)))) return false
      return end <= tail || isBoundary(batch, tail)
    },
  }
}

async function gainOf(parts: StoreParts, run: RunKey, head: Head, batch: Batch): Promise<Gain> {
  const { frames, points, unreadable } = batch
  const telling = heard(batch.telling, head.headed)
  const before = telling.length > 0 ? await currentCard(parts.ports, run, head) : undefined
  const { digest, state } = await digestAfter(parts, run, head, batch)
  const card = before && { before, after: cardAfter(before, telling) }
  return { frames, points, unreadable, digest, hash_state: state, ...(card && { card }) }
}

/** Continued from the saved state; one of another version of this program is made anew from the archive. */
async function digestAfter(parts: StoreParts, run: RunKey, head: Head, { bytes }: Batch) {
  const saved = head.hash_state === '' ? null : head.hash_state
  return (
    extendDigest(saved, [bytes]) ?? (await digestUpTo(viewOf(parts.ports, run, head), head.tail, [bytes]))
  )
}

async function hasBytes(view: ArchiveView, { bytes, offset }: Batch, end: number): Promise<boolean> {
  let at = 0
  for await (const chunk of view.bytes(offset, end)) {
    for (let i = 0; i < chunk.length; i++) if (chunk[i] !== bytes[at + i]) return false
    at += chunk.length
  }
  return true
}

/** A payload may hold bytes that look like frames; only a cut between frames is a place to go on from. */
function isBoundary({ bytes, offset }: Batch, tail: number): boolean {
  const skip = offset === 0 ? PREAMBLE_BYTES : 0
  if (offset + skip === tail) return true
  for (const frame of walkFrames(bytes.subarray(skip), { offset: offset + skip })) {
    if (frame.offset + frame.length === tail) return true
  }
  return false
}
