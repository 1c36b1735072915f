import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCursor, writeCursor } from '../../../../shared/store/reading/cursor.ts'

const binding = ['records', 'default', 'run-1', 1, null]

describe('a cursor', () => {
  it('gives its position back to the same question', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat()), async (position) => {
        expect(await readCursor(binding, await writeCursor(binding, position))).toEqual(position)
      }),
    )
  })

  it('is refused by any other run, life or question', async () => {
    const cursor = await writeCursor(binding, [5, 700])
    for (const [place, other] of [
      [1, 'tenant-2'],
      [2, 'run-2'],
      [3, 2],
      [4, 'Header'],
      [0, 'points'],
    ] as const) {
      const wrong = binding.with(place, other)
      await expect(readCursor(wrong, cursor)).rejects.toMatchObject({ code: 'bad_request' })
    }
  })

  it('is refused when forged, changed anywhere, or no cursor at all', async () => {
    const cursor = await writeCursor(binding, [5, 700])
    for (let at = 0; at < cursor.length; at++) {
      const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
      await expect(readCursor(binding, changed)).rejects.toMatchObject({ code: 'bad_request' })
    }
    const made = (text: string) => btoa(text).replaceAll('=', '')
    for (const text of [
      '',
      'forged',
      '%',
      cursor + cursor,
      `${cursor}=`,
      made('[5,700]'),
      made('{}'),
      made('[[[['),
      'A'.repeat(10_000),
    ]) {
      await expect(readCursor(binding, text)).rejects.toMatchObject({ code: 'bad_request' })
    }
  })
})
