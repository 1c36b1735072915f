import { expect, it } from 'vitest'
import { createMaintainer, type StorePorts } from '#store'
import { StoredRun, say, testArchive } from '../kit/stored-run.ts'

// The manifest of a deleted run went at the next pass, while its objects had an hour: whoever had listed the storage a
// moment before found a file gone that was named.

const HOUR = 3_600_000

async function keysIn({ objects }: StorePorts): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of objects.list('')) keys.push(key)
  return keys
}

it('the manifest of a deleted run stays as long as its objects, and then goes with them', async () => {
  const { archive, ports, clock } = testArchive()
  const run = await StoredRun.begin(archive)
  await run.append(say('a'))
  await run.append(say('b'))
  await archive.release(run.key, run.epoch)
  const maintainer = createMaintainer(ports, clock)
  for (let pass = 0; pass < 3; pass++) await maintainer.pass()
  const before = await keysIn(ports)
  expect(before.some((key) => key.includes('/manifest-'))).toBe(true)

  await archive.remove(run.key, { force: true })
  for (let pass = 0; pass < 3; pass++) await maintainer.pass()
  expect(await keysIn(ports)).toEqual(expect.arrayContaining(before))
  for (let pass = 0; pass < 4; pass++) {
    clock.advance(HOUR)
    await maintainer.pass()
  }
  const left = await keysIn(ports)
  expect(left.filter((key) => before.includes(key))).toEqual([])
})
