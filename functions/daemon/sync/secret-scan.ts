import { secretsIn } from '../secrets.ts'
import { SECRET_BYTES, type SecretScan } from './scanning.ts'

// What people paste into a conversation is archived with it. Only how often a family was found is ever told, never what.

const BLOCK_BYTES = 1 << 20
const LF = 0x0a

export const scanForSecrets: SecretScan = async (chunks, before = 0) => {
  const found = new Map<string, number>()
  let block = Buffer.alloc(0)
  /** Bytes at the block's beginning that were looked at before. */
  let seen = before
  for await (const chunk of chunks) {
    block = Buffer.concat([block, chunk])
    if (block.length < BLOCK_BYTES) continue
    await count(block, seen, found)
    const line = block.lastIndexOf(LF) + 1
    const kept = Math.min(block.length - line, SECRET_BYTES)
    block = block.subarray(block.length - kept)
    seen = kept
  }
  await count(block, seen, found)
  return found
}

const count = async (block: Buffer, seen: number, found: Map<string, number>): Promise<void> => {
  if (block.length <= seen) return
  // A character a byte: tokens are ASCII, and positions stay those of the bytes.
  for (const { family, end } of await secretsIn(block.toString('latin1')))
    if (end > seen) found.set(family, (found.get(family) ?? 0) + 1)
}
