import { expect, it } from 'vitest'
import { onEveryStore, sha256, utf8 } from './kit.ts'

onEveryStore('files of a session', (open) => {
  it('are appended at their tail and come back byte for byte', async () => {
    const s = open()
    const texts = ['one\n', 'ü', '🚀 two\r\n\0', 'three']
    let whole = ''
    for (const text of texts) {
      const offset = utf8(whole).length
      whole += text
      const position = { tail: utf8(whole).length, digest: sha256(utf8(whole)), generation: 1 }
      expect(await s.append('sid.jsonl', text, { offset })).toMatchObject({ ...position, replayed: false })
      expect(await s.append('sid.jsonl', text, { offset })).toMatchObject({ ...position, replayed: true })
    }
    expect(await s.raw('sid.jsonl')).toBe(whole)
    expect((await s.archive.files(s.session)).items).toMatchObject([
      { path: 'sid.jsonl', generation: 1, tail: utf8(whole).length, current: true },
    ])
  })

  it('answer a replay of the middle as of its end', async () => {
    const s = open()
    await s.append('f', 'hello world')
    const again = await s.append('f', 'lo w', { offset: 3 })
    expect(again).toMatchObject({ tail: 7, digest: sha256(utf8('hello w')), replayed: true })
  })

  it('refuse an offset that does not fit, with the position', async () => {
    const s = open()
    const refused = (text: string, more: object) => expect(s.append('f', text, more)).rejects
    await refused('x', { offset: 5 }).toMatchObject({ code: 'gap', facts: { tail: 0, generation: 0 } })
    await refused('x', { generation: 2 }).toMatchObject({ code: 'gap', facts: { generation: 0 } })
    await expect(s.archive.files(s.session)).rejects.toMatchObject({ code: 'not_found' })
    await s.append('f', 'hello')
    const facts = { tail: 5, digest: sha256(utf8('hello')), generation: 1 }
    await refused('x', { offset: 6 }).toMatchObject({ code: 'gap', facts })
    await refused('hullo', {}).toMatchObject({ code: 'offset_conflict', facts })
    await refused('ell!', { offset: 1 }).toMatchObject({ code: 'offset_conflict', facts })
    await refused('hello you', {}).toMatchObject({ code: 'overlap', facts })
    await refused('x', { generation: 3 }).toMatchObject({ code: 'gap', facts })
    await refused('x', { generation: 2, offset: 5 }).toMatchObject({ code: 'gap', facts })
    expect(await s.raw('f')).toBe('hello')
  })

  it('begin a next generation at offset 0 and keep the one before', async () => {
    const s = open()
    await s.append('f', 'first')
    await s.append('f', ' one', { offset: 5 })
    await s.append('f', 'second', { generation: 2 })
    expect(await s.append('f', 'second', { generation: 2 })).toMatchObject({ replayed: true })
    await s.append('f', '', { generation: 3 })
    await expect(s.append('f', 'first')).rejects.toMatchObject({ code: 'gap', facts: { generation: 3 } })
    expect([await s.raw('f', 1), await s.raw('f', 2), await s.raw('f', 3), await s.raw('f')]).toEqual([
      'first one',
      'second',
      '',
      '',
    ])
    await expect(s.raw('f', 4)).rejects.toMatchObject({ code: 'not_found' })
    const { items } = await s.archive.files(s.session)
    expect(items.map(({ generation, tail, current }) => [generation, tail, current])).toEqual([
      [1, 9, false],
      [2, 6, false],
      [3, 0, true],
    ])
  })

  it('become known by no bytes at all', async () => {
    const s = open()
    const empty = { tail: 0, digest: sha256(utf8('')), generation: 1 }
    expect(await s.append('f', '')).toMatchObject({ ...empty, replayed: false })
    expect(await s.append('f', '')).toMatchObject({ ...empty, replayed: true })
    expect(await s.raw('f')).toBe('')
    expect(await s.keys('/files/')).toEqual([])
  })

  it('take the bytes of one of many writers at an offset', async () => {
    const s = open()
    await s.append('f', 'begin\n')
    const bodies = Array.from({ length: 12 }, (_, i) => `writer ${i}\n`)
    const answers = await Promise.allSettled(bodies.map((body) => s.append('f', body, { offset: 6 })))
    const won = answers.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
    expect(won).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'offset_conflict' })
    }
    expect(await s.raw('f')).toBe(`begin\n${bodies[won[0] as number]}`)
  })

  it('are stored once when the same bytes come many times at once', async () => {
    const s = open()
    const answers = await Promise.all(Array.from({ length: 12 }, () => s.append('f', 'the same')))
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(new Set(answers.map(({ tail, digest }) => `${tail} ${digest}`))).toHaveProperty('size', 1)
    expect(await s.raw('f')).toBe('the same')
  })

  it('stay apart by every byte of their path', async () => {
    const s = open()
    const paths = [
      'a b',
      'a+b&c=d#e?',
      '100%41',
      'ü',
      'u\u0308',
      'Ü',
      '日本語/🚀',
      '__proto__',
      'CON',
      '~',
      '...',
      '.x',
    ]
    paths.push('x'.repeat(512), `${'x'.repeat(511)}y`, '日'.repeat(170), `${'日'.repeat(169)}本`)
    for (const path of paths) await s.append(path, `this is ${path}`)
    for (const path of paths) expect(await s.raw(path)).toBe(`this is ${path}`)
    const { items } = await s.archive.files(s.session)
    expect(items.map(({ path }) => path).toSorted()).toEqual(paths.toSorted())
    expect(await s.keys('/files/')).toHaveLength(paths.length)
  })

  it('are listed with the number of problems of the document, once it is made', async () => {
    const s = open()
    await s.append('sid.jsonl', 'bad line\n')
    expect((await s.archive.files(s.session)).problems).toBe(1)
    await s.add('sid.jsonl', 'bad line\n'.repeat(600_000))
    expect((await s.archive.files(s.session)).problems).toBe(null)
    await s.maintain()
    expect((await s.archive.files(s.session)).problems).toBe(600_001)
  })

  it('of one id on two machines have nothing in common', async () => {
    const s = open()
    const other = { ...s.session, machine: 'other' }
    await s.append('f', 'one')
    await s.archive.append(other, { path: 'f', generation: 1, offset: 0, bytes: utf8('another') })
    expect(await s.raw('f')).toBe('one')
    expect((await s.archive.files(other)).items).toMatchObject([{ tail: 7 }])
  })
})
