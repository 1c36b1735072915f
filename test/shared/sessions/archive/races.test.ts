import { expect, it } from 'vitest'
import { onEveryStore, utf8 } from './kit.ts'
import { claudeRow, claudeRows } from './rows.ts'

onEveryStore('24: two at one session', (open) => {
  it('who append the same rows store them once, and neither loses one', async () => {
    const s = open()
    const [one, other] = [s.fresh(), s.fresh()]
    let whole = ''
    for (let n = 0; n < 12; n++) {
      const row = claudeRow(n)
      const offset = utf8(whole).length
      const answers = await Promise.all(
        [one, other].map((archive) => s.append('sid.jsonl', row, { offset }, archive)),
      )
      expect(answers.map(({ replayed }) => replayed).toSorted()).toEqual([false, true])
      expect(new Set(answers.map(({ digest }) => digest))).toHaveProperty('size', 1)
      whole += row
    }
    expect(await s.raw('sid.jsonl')).toBe(whole)
    await s.exact()
  })

  it('who append to different files are both told of', async () => {
    const s = open()
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        s.append(`sid/tool-results/${n}`, `output ${n}`, {}, s.fresh()),
      ).concat(s.append('sid.jsonl', claudeRows(0, 9), {}, s.fresh())),
    )
    expect((await s.head()).revision).toBeGreaterThanOrEqual(11)
    await s.exact()
    expect(await s.entry()).toMatchObject({ file_count: 11, message_count: 9 })
  })

  it('who begin the next generation with other bytes: one begins it, the other is refused', async () => {
    const s = open()
    await s.append('f', 'old')
    const begun = await Promise.allSettled(
      ['one', 'two'].map((text) => s.append('f', text, { generation: 2 }, s.fresh())),
    )
    const failed = begun.find((answer) => answer.status === 'rejected')
    expect(failed?.reason).toMatchObject({ code: 'offset_conflict', facts: { generation: 2 } })
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(['one', 'two']).toContain(await s.raw('f'))
    expect(await s.raw('f', 1)).toBe('old')
  })

  it('who append to a generation and begin the next: the bytes are in the one or refused', async () => {
    for (let round = 0; round < 4; round++) {
      const s = open()
      await s.append('f', 'old')
      const [appended, begun] = await Promise.allSettled([
        s.append('f', ' more', { offset: 3 }, s.fresh()),
        s.append('f', 'new', { generation: 2 }, s.fresh()),
      ])
      expect(begun.status).toBe('fulfilled')
      const kept = appended.status === 'fulfilled' ? 'old more' : 'old'
      expect(await s.raw('f', 1)).toBe(kept)
      if (appended.status === 'rejected') expect(appended.reason).toMatchObject({ code: 'gap' })
    }
  })

  it('who derive end with one document, and the entry never goes back', async () => {
    const s = open()
    await s.append('sid.jsonl', claudeRows(0, 10))
    for (let n = 10; n < 16; n++) {
      const { tail } = await s.archive.raw(s.session, 'sid.jsonl')
      const appending = s.append('sid.jsonl', claudeRow(n), { offset: tail }, s.fresh())
      const seen = await Promise.all([1, 2, 3].map(() => s.document(undefined, s.fresh())))
      await appending
      for (const document of seen) {
        expect([n, n + 1]).toContain(JSON.parse(Buffer.from(document).toString()).messages.length)
      }
      expect(await s.entry()).toMatchObject({ message_count: n + 1 })
    }
    await s.exact()
  })

  it('of which one deletes: the other begins anew or is told', async () => {
    const s = open()
    await s.append('f', 'old')
    const [, late] = await Promise.allSettled([
      s.archive.remove(s.session),
      s.append('f', ' more', { offset: 3 }, s.fresh()),
    ])
    if (late.status === 'rejected') expect(late.reason).toMatchObject({ code: 'gap', facts: { tail: 0 } })
    await expect(s.raw('f')).rejects.toMatchObject({ code: 'not_found' })
    await s.append('f', 'new')
    expect(await s.raw('f')).toBe('new')
  })
})
