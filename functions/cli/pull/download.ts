import type { Client } from '#client'
import { isRunfoldError, RunfoldError } from '#schema'

export interface Download {
  readonly client: Client
  readonly run: string
  /** Where to begin, and the archive's tail that was promised. */
  readonly from: number
  readonly tail: number
  /** Takes the bytes that stand at `at`; they come in order, each once. */
  readonly write: (bytes: Uint8Array, at: number) => Promise<void>
}

/** Broken connections in a row that bring nothing; then the network is to be blamed aloud. */
const FRUITLESS_MAX = 4

/** Fetches archive bytes from..tail, going on by Range wherever a connection breaks off. */
export const download = async ({ client, run, from, tail, write }: Download): Promise<void> => {
  let at = from
  let fruitless = 0
  while (at < tail) {
    const began = at
    try {
      const { start, chunks } = await client.archive(run, { start: at, end: tail })
      let position = start
      for await (const chunk of chunks) {
        const fresh = chunk.subarray(Math.max(0, at - position), Math.max(0, tail - position))
        position += chunk.length
        if (fresh.length === 0) continue
        await write(fresh, at)
        at += fresh.length
      }
      if (at < tail)
        throw new RunfoldError('unavailable', `the archive of ${run} broke off at ${at} of ${tail}`)
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable')) throw error
      fruitless = at > began ? 0 : fruitless + 1
      if (fruitless >= FRUITLESS_MAX) throw error
    }
  }
}
