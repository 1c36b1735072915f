import { encodeFrame, encodeRecord, jsonBytes } from '#codec'
import type { Worker } from '#schema'
import type { FoldedFile } from './fold-file.ts'

/**
 * What a new owner writes before anything else (LVR1.md 5.1, 5.3): an OwnershipChanged and a ContextCheckpoint of the window
 * as it is. The same arguments give the same bytes, so that they can be sent again.
 *
 * @param at Unix seconds
 */
export const ownerFrames = (
  { machine_id, world_id }: Worker,
  context: FoldedFile['context'],
  at: number,
): Uint8Array => {
  const changed = encodeFrame(encodeRecord({ OwnershipChanged: { machine_id, world_id, at } }))
  const checkpoint = encodeFrame(jsonBytes({ ContextCheckpoint: { snapshot: context, at } }))
  return new Uint8Array(Buffer.concat([changed, checkpoint]))
}
