import { expect, it } from 'vitest'
import type { Extents, Objects } from '../../../../shared/store/ports.ts'
import { extentBytes } from '../../../../shared/store/reading/extents.ts'

const MiB = 1024 * 1024
const LENGTH = 64 * MiB
const extents: Extents = { '0000000000000000': { length: LENGTH, hash: 'x', sweep: 0, at: 0 } }
const source = { extents, keyOf: () => 'object' }

/** Storage that counts what it has given. */
function storage() {
  const given: number[] = []
  const objects = {
    get: async (_key: string, range: { start: number; end: number }) => {
      given.push(range.end - range.start)
      return new Uint8Array(range.end - range.start)
    },
  } as unknown as Objects
  return { given, bytes: () => extentBytes(objects, source, async () => source, 0, LENGTH) }
}

const total = (lengths: readonly number[]) => lengths.reduce((sum, length) => sum + length, 0)

it('many readers that have stopped taking hold little each, and a single one again as much as before', async () => {
  const READERS = 100
  const { given, bytes } = storage()
  const readers = Array.from({ length: READERS }, bytes)
  let taken = 0
  for (let round = 0; round < 6; round++) {
    for (const reader of readers) taken += (await reader.next()).value?.length ?? 0
  }
  expect(total(given) - taken).toBeLessThanOrEqual(128 * MiB + 4 * MiB)
  await Promise.all(readers.map((reader) => reader.return(undefined)))

  const alone = storage()
  let seen = 0
  for await (const piece of alone.bytes()) {
    seen += piece.length
    if (seen === 1 * MiB) expect(alone.given).toEqual([MiB])
  }
  expect(seen).toBe(LENGTH)
  expect(alone.given).toEqual([MiB, ...Array(15).fill(4 * MiB), 3 * MiB])
})
