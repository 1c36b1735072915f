import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readArchive, readStrict, recordView } from '#codec'
import type { RecordKind } from '#schema'
import { recordsPage, recordsStream } from '#store'
import { demoRecords } from '../../../../functions/cli/demo-run.ts'
import { all, archiveOf, seen, storedRun, withPayloads } from './kit.ts'

const demo = archiveOf(demoRecords({ seed: 31, records: 120, entryBytes: 800 }))
const ODD = ['', '{"FromTomorrow":{"at":7}}', '{"Message":', '{"StatusChanged":{"status":"running","at":7}}']
const bytes = withPayloads(demo, ...ODD)
const run = await storedRun(bytes, 5)
type Question = Omit<Parameters<typeof recordsPage>[1], 'limit'>

async function walk(question: Question, limit: number) {
  const items: unknown[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await recordsPage(run.view, { ...question, limit, ...(cursor ? { cursor } : {}) })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    if (page.next_cursor === null) return seen(items)
    expect(page.items.length).toBeGreaterThan(0)
    cursor = page.next_cursor
  }
}
const stream = async (question: Question) => seen(await all(recordsStream(run.view, question)))

describe('records', () => {
  it('gives every frame in order, the unreadable ones with a reason and no bytes', async () => {
    const items = await stream({})
    const whole = [...readArchive(bytes)]
    expect(
      items.map((item: { seq: number; offset: number; length: number }) => [
        item.seq,
        item.offset,
        item.length,
      ]),
    ).toEqual(
      whole.map((item) =>
        item.type === 'torn' ? [] : [item.frame.seq, item.frame.offset, item.frame.length],
      ),
    )
    const records = [...readStrict(demo)].map(({ frame, record }) => ({
      seq: frame.seq,
      offset: frame.offset,
      length: frame.length,
      kind: record.kind,
      at: record.at,
      record: recordView(frame.payload),
    }))
    expect(items.slice(0, 120)).toEqual(seen(records))
    for (const item of items.slice(120, 123)) {
      expect(item).toMatchObject({ kind: null, at: null, record: null })
      expect(item.unreadable).toMatch(/^[a-z_]+/)
    }
    expect(items.at(-1)).toMatchObject({ kind: 'StatusChanged', at: 7 })
  })

  it('gives the same by pages of any size, for any range and kinds', async () => {
    const kinds = fc.option(
      fc.subarray<RecordKind>(['Header', 'Progress', 'ToolBatch', 'Message'], { minLength: 1 }),
      { nil: undefined },
    )
    const place = fc.option(fc.nat(130), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        kinds,
        place,
        place,
        fc.integer({ min: 1, max: 150 }),
        async (kind, from, to, limit) => {
          const question = { kind, from, to } as Question
          const everything = await stream({})
          const wanted = everything.filter(
            (item: { seq: number; kind: RecordKind | null }) =>
              item.seq >= (from ?? 0) &&
              item.seq < (to ?? 1e9) &&
              (!kind || (item.kind && kind.includes(item.kind))),
          )
          expect(await walk(question, limit)).toEqual(wanted)
          expect(await stream(question)).toEqual(wanted)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('ends a page before it grows over 4 MiB, but never empty', async () => {
    const message = (mib: number) =>
      `{"Message":{"message":{"role":"user","content":"${'x'.repeat(mib << 20)}"},"at":1}}`
    const large = await storedRun(withPayloads(demo, message(3), message(3), message(5)), 1)
    const sizes: number[] = []
    for (let cursor: string | undefined; sizes.length < 9; ) {
      const page = await recordsPage(large.view, { from: 119, limit: 100, ...(cursor ? { cursor } : {}) })
      sizes.push(page.items.length)
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    expect(sizes).toEqual([2, 1, 1])
  })

  it('goes on with a cursor where the page ended, without reading what came before', async () => {
    const page = await recordsPage(run.view, { limit: 60 })
    const gone = run.viewFrom(run.head)
    const asked: number[] = []
    const watching = {
      ...gone,
      bytes: (start: number, end: number) => {
        asked.push(start)
        return gone.bytes(start, end)
      },
    }
    await recordsPage(watching, { limit: 10, cursor: page.next_cursor as string })
    expect(asked).toEqual([run.offsets[60]])
  })

  it('refuses a cursor of another question or another life', async () => {
    const { next_cursor } = await recordsPage(run.view, { limit: 2 })
    const cursor = next_cursor as string
    for (const question of [{ from: 1 }, { to: 9 }, { kind: ['Header'] as RecordKind[] }]) {
      await expect(recordsPage(run.view, { ...question, limit: 2, cursor })).rejects.toMatchObject({
        code: 'bad_request',
      })
    }
    const again = run.viewFrom({ ...run.head, life: 2 })
    await expect(recordsPage(again, { limit: 2, cursor })).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('is empty at and past the end, and of a run without bytes', async () => {
    expect(await recordsPage(run.view, { from: 124, limit: 5 })).toEqual({ items: [], next_cursor: null })
    expect(await recordsPage(run.view, { from: 5, to: 5, limit: 5 })).toEqual({
      items: [],
      next_cursor: null,
    })
    const empty = await storedRun(new Uint8Array(0))
    expect(await recordsPage(empty.view, { limit: 5 })).toEqual({ items: [], next_cursor: null })
  })

  it('names the range when a stored length was changed', async () => {
    const copy = new Uint8Array(bytes)
    copy[(run.offsets[50] as number) + 3] = 255
    const damaged = await storedRun(bytes, 200)
    const [name] = Object.keys(damaged.head.extents)
    const key = [...(await all(damaged.objects.list('')))][0]?.key as string
    await damaged.objects.put(key, [copy], {})
    expect(name).toBeDefined()
    await expect(all(recordsStream(damaged.view, {}))).rejects.toMatchObject({
      code: 'internal',
      facts: { offset: run.offsets[50], length: bytes.length - (run.offsets[50] as number) },
    })
  })
})
