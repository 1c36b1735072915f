import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Head, Objects } from '#store'
import { openView } from '#store'
import { demoRecords } from '../../../../functions/cli/demo-run.ts'
import { objectKey } from '../../../../shared/store/keys.ts'
import { all, archiveOf, RUN, type StoredRun, storedRun } from './kit.ts'

const bytes = archiveOf(demoRecords({ seed: 21, records: 60, entryBytes: 800 }))
let run: StoredRun
beforeEach(async () => {
  run = await storedRun(bytes, 7)
})

const read = async (view: StoredRun['view'], start = 0, end = bytes.length) =>
  Buffer.concat(await all(view.bytes(start, end)))
const keyAt = (head: Head, start: number) =>
  objectKey(RUN, start, head.extents[String(start).padStart(16, '0')] as never)

describe('the view of an archive', () => {
  it('gives any range of it, whatever objects hold it', async () => {
    const range = fc
      .tuple(fc.nat(bytes.length), fc.nat(bytes.length))
      .map((ends) => ends.sort((a, b) => a - b) as [number, number])
    await fc.assert(
      fc.asyncProperty(range, async ([start, end]) => {
        expect((await read(run.view, start, end)).equals(bytes.subarray(start, end))).toBe(true)
      }),
    )
  })

  it('fetches no more than a few pieces ahead, and one to begin with', async () => {
    const one = await storedRun(bytes, 1)
    let asked = 0
    const counting: Objects = {
      ...one.objects,
      get: (key, range) => {
        asked++
        return one.objects.get(key, range)
      },
    }
    const chunks = openView(counting, RUN, one.head, async () => one.head)
      .bytes(0, bytes.length)
      [Symbol.asyncIterator]()
    await chunks.next()
    expect(asked).toBe(1)
    for (let n = 0; n < 10; n++) await chunks.next()
    expect(asked).toBeLessThanOrEqual(11 + 4)
    await chunks.return?.()
  })

  it('goes on where the bytes are now, when merging moved them under its feet', async () => {
    const merged = await run.restored(25, 1)
    const chunks = run.viewFrom(run.head, async () => merged).bytes(0, bytes.length)
    const got: Uint8Array[] = []
    for await (const chunk of chunks) {
      got.push(chunk)
      if (got.length === 2)
        for (const name of Object.keys(run.head.extents))
          await run.objects.remove([keyAt(run.head, Number(name))])
    }
    expect(Buffer.concat(got).equals(bytes)).toBe(true)
  })

  it('survives being moved twice', async () => {
    const second = await run.restored(2, 1)
    const third = await run.restored(50, 2)
    const heads = [second, third]
    const starts = Object.keys(run.head.extents).map(Number)
    const gone = async (head: Head) =>
      run.objects.remove(Object.keys(head.extents).map((name) => keyAt(head, Number(name))))
    const view = run.viewFrom(run.head, async () => heads.shift())
    const got: Uint8Array[] = []
    for await (const chunk of view.bytes(0, bytes.length)) {
      got.push(chunk)
      if (got.length === 1) await gone(run.head)
      if (got.length === 3) await gone(second)
    }
    expect(starts.length).toBeGreaterThan(5)
    expect(Buffer.concat(got).equals(bytes)).toBe(true)
  })

  it('names the range of an object that is lost, instead of skipping it (P7)', async () => {
    const lost = Object.keys(run.head.extents).map(Number)[3] as number
    const { length } = run.head.extents[String(lost).padStart(16, '0')] as { length: number }
    await run.objects.remove([keyAt(run.head, lost)])
    await expect(read(run.view)).rejects.toMatchObject({ code: 'internal', facts: { offset: lost, length } })
    await expect(read(run.view, 0, lost + 5)).rejects.toMatchObject({ facts: { offset: lost, length: 5 } })
    expect((await read(run.view, 0, lost)).equals(bytes.subarray(0, lost))).toBe(true)
  })

  it('names the range of an object that is too short', async () => {
    const short = Object.keys(run.head.extents).map(Number)[2] as number
    await run.objects.put(keyAt(run.head, short), [bytes.slice(short, short + 10)], {})
    await expect(read(run.view)).rejects.toMatchObject({ code: 'internal', facts: { offset: short } })
  })

  it('names a hole between extents', async () => {
    const names = Object.keys(run.head.extents)
    const { [names[4] as string]: hole, ...extents } = run.head.extents
    const offset = Number(names[4])
    await expect(read(run.viewFrom({ ...run.head, extents }))).rejects.toMatchObject({
      code: 'internal',
      facts: { offset, length: bytes.length - offset },
    })
    expect(hole).toBeDefined()
  })

  it('ends when the run was removed, also when it was made again', async () => {
    const [first] = Object.keys(run.head.extents)
    await run.objects.remove([keyAt(run.head, Number(first))])
    for (const now of [undefined, { ...run.head, alive: false }, { ...run.head, life: 2 }]) {
      await expect(read(run.viewFrom(run.head, async () => now))).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('lets an error of the storage through', async () => {
    const broken: Objects = { ...run.objects, get: () => Promise.reject(new Error('the wire is cut')) }
    await expect(read(openView(broken, RUN, run.head, async () => run.head))).rejects.toThrow(
      'the wire is cut',
    )
  })
})
