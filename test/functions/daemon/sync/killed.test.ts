import { appendFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Mishap } from '../../../shared/client/kit.ts'
import { startServer } from '../../../shared/client/kit.ts'
import { CLAUDE, laptop, rows } from './kit.ts'

const MAIN = `${CLAUDE}/s1.jsonl`
const OUTPUT = `${CLAUDE}/s1/tool-results/a.txt`
const SOURCES = { 's1.jsonl': MAIN, 's1/tool-results/a.txt': OUTPUT }

/** Steps of a sync that writes: what the process is killed before, and after, its answer being lost with it. */
const kill =
  (dead: AbortController, isAfter: boolean): Mishap =>
  async (_, answer) => {
    if (isAfter) await answer()
    dead.abort(new Error('killed'))
    throw dead.signal.reason
  }

for (const isAfter of [false, true]) {
  it(`a sync that is killed ${isAfter ? 'after' : 'before'} any of its requests is repaired by the next one`, async () => {
    for (let step = 0; ; step++) {
      const here = await laptop(await startServer(700, ['sessions']))
      here.write(OUTPUT, 'what the tool said '.repeat(100))
      here.write(MAIN, rows(0, 12))
      await here.sync()
      appendFileSync(here.path(MAIN), rows(12, 20))
      writeFileSync(here.path(OUTPUT), 'another thing '.repeat(120))

      const dead = new AbortController()
      for (let n = 0; n < step + 1; n++) here.server.mishaps.push(async (_, answer) => answer())
      here.server.mishaps.push(kill(dead, isAfter), ...Array.from({ length: 40 }, () => kill(dead, false)))
      const died = await here.sync({ signal: dead.signal }).then(
        () => false,
        () => dead.signal.aborted,
      )
      here.server.mishaps.length = 0
      const { outcomes } = await here.sync()
      await here.expectExact('claude-code', 's1', SOURCES)
      expect(
        (await here.files('claude-code', 's1')).map(({ path, generation }) => [path, generation]),
      ).toEqual([
        ['s1.jsonl', 1],
        ['s1/tool-results/a.txt', 1],
        ['s1/tool-results/a.txt', 2],
      ])
      expect((await here.sync()).counters).toEqual({ bytes_read: 0, bytes_sent: 0, requests: 0 })
      if (died) continue
      expect(step, 'killed often enough').toBeGreaterThan(4)
      expect(outcomes).toEqual({ s1: 'skipped' })
      return
    }
  })
}

it('a file that is written byte by byte is archived as it is in the end, whatever a watch saw of it', async () => {
  const here = await laptop()
  const bytes = Buffer.from(
    `\ufeff${rows(0, 1)}\r\n${rows(1, 2).replace('said', 'sa\u2028id \\ud83c 🌊')}\u0000\u0000\n{"half":\n[1]\n${rows(2, 3)}{"open":`,
  )
  const invalid = Buffer.concat([
    bytes.subarray(0, 200),
    Buffer.from([0xff, 0xfe, 0xc3]),
    bytes.subarray(200),
  ])
  here.write(MAIN, '')
  for (const [at, byte] of invalid.entries()) {
    appendFileSync(here.path(MAIN), Buffer.of(byte))
    if (at % 13 === 0 || at % 17 === 1) await here.sync()
  }
  await here.sync()
  await here.expectExact('claude-code', 's1', { 's1.jsonl': MAIN })
  expect((await here.files('claude-code', 's1')).map(({ generation }) => generation)).toEqual([1])
})

it('a line of 100 MB is archived whole', async () => {
  const here = await laptop()
  const line = Buffer.alloc(100 << 20, 'x')
  line.write('{"type":"user","uuid":"u","message":{"content":"')
  line.write('"}}\n', line.length - 4)
  here.write(MAIN, line)
  await here.sync()
  const [file] = await here.files('claude-code', 's1')
  expect(file).toMatchObject({ generation: 1, tail: line.length })
  expect((await here.raw('claude-code', 's1', 's1.jsonl')).equals(line)).toBe(true)
  const document = JSON.parse((await here.document('claude-code', 's1')).toString())
  expect(document.counts.records + document.counts.bad_lines).toBe(1)
}, 60_000)
