import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { unfinishedName } from '../../../../functions/daemon/restore-unfinished.ts'
import { CLAUDE, laptop, rows } from './kit.ts'

const DAY = '.codex/sessions/2026/11/30'
const NAMED = '019f4c10-7e2a-7b41-9c55-bbbbbbbbbbbb'
const ROLLOUT = 'rollout-2026-11-30T09-00-00-019f4c10-7e2a-7b41-9c55-aaaaaaaaaaaa.jsonl'

/** Of a session that its first record calls otherwise than its file. */
const records = [
  { timestamp: '2026-11-30T09:00:00.000Z', type: 'session_meta', payload: { id: NAMED, cwd: '/w/x' } },
  { type: 'event_msg', payload: { type: 'user_message', message: 'hello' } },
]
  .map((record) => `${JSON.stringify(record)}\n`)
  .join('')

describe('a packed rollout', () => {
  it('has the name that its first record says, also where nothing is remembered', async () => {
    const here = await laptop()
    here.write(`${DAY}/${ROLLOUT}`, records)
    expect((await here.sync()).outcomes).toEqual({ [NAMED]: 'archived' })
    here.write(`${DAY}/${ROLLOUT}.zst`, zstdCompressSync(Buffer.from(records)))
    expect((await here.sync()).outcomes, 'both at once').toEqual({ [NAMED]: 'skipped' })
    renameSync(here.path(`${DAY}/${ROLLOUT}`), here.path('elsewhere'))
    renameSync(here.path('.state'), here.path('.forgotten'))
    expect((await here.sync()).outcomes, 'packed alone').toEqual({ [NAMED]: 'skipped' })
  })

  it('is of the folder that its first record says', async () => {
    const here = await laptop()
    here.write(`${DAY}/${ROLLOUT}.zst`, zstdCompressSync(Buffer.from(records)))
    expect((await here.sync({ cwd: '/w/y' })).outcomes).toEqual({})
    expect((await here.sync({ cwd: '/w/x' })).outcomes).toEqual({ [NAMED]: 'archived' })
  })

  it('that is damaged is told of, under the name of its file', async () => {
    const here = await laptop()
    here.write(`${DAY}/${ROLLOUT}.zst`, zstdCompressSync(Buffer.from(records)).subarray(0, 40))
    expect((await here.sync()).outcomes).toEqual({ '019f4c10-7e2a-7b41-9c55-aaaaaaaaaaaa': 'failed' })
  })
})

it('a folder of sessions that is a link is not read, and that is told', async () => {
  const here = await laptop()
  here.write('outside/-w/s1.jsonl', rows(0, 2))
  mkdirSync(here.path('.claude'))
  symlinkSync(here.path('outside'), here.path('.claude/projects'))
  const { outcomes, unread } = await here.sync()
  expect(outcomes).toEqual({})
  expect(unread).toMatchObject([{ source: here.path('.claude/projects'), reason: 'it is a link' }])
})

it('what a restore has not finished is no file of a session', async () => {
  const here = await laptop()
  here.write(`${CLAUDE}/s1.jsonl`, rows(0, 2))
  here.write(`${CLAUDE}/s1/tool-results/${unfinishedName()}`, 'half of an out')
  writeFileSync(here.path(`${CLAUDE}/s1/tool-results/a.tmp`), 'an output')
  await here.sync()
  const files = await here.files('claude-code', 's1')
  expect(files.map(({ path }) => path)).toEqual(['s1.jsonl', 's1/tool-results/a.tmp'])
})

describe('a history that no session has a place for', () => {
  it('is named and never sent, once for all of a folder', async () => {
    const here = await laptop()
    here.write(`${CLAUDE}/s1.jsonl`, rows(0, 2))
    for (const n of [1, 2, 3]) here.write(`${CLAUDE}/s1.jsonl.reset.${n}`, rows(0, n))
    here.write('.claude/projects/-x/s2.jsonl.bak', rows(0, 2))
    here.write(`${DAY}/${ROLLOUT.replace('.jsonl', '.json')}`, '{}')
    const { outcomes, unread } = await here.sync()
    expect(outcomes).toEqual({ s1: 'archived' })
    expect(unread.map(({ source, reason }) => [source, reason])).toEqual([
      [
        here.path(`${CLAUDE}/s1.jsonl.reset.1`),
        'no session has a place for it, nor for 2 others in its folder',
      ],
      [here.path('.claude/projects/-x/s2.jsonl.bak'), 'no session has a place for it'],
      [here.path(`${DAY}/${ROLLOUT.replace('.jsonl', '.json')}`), expect.any(String)],
    ])
    expect((await here.files('claude-code', 's1')).map(({ path }) => path)).toEqual(['s1.jsonl'])
  })

  it('is named in a folder that is no session', async () => {
    const here = await laptop()
    here.write('.kimi-code/sessions/w/session_1/context.jsonl', '{}')
    const { outcomes, unread } = await here.sync()
    expect(outcomes).toEqual({})
    expect(unread).toMatchObject([{ source: here.path('.kimi-code/sessions/w/session_1/context.jsonl') }])
  })

  it('is not looked for among what a harness keeps beside its sessions, and what passes', async () => {
    const here = await laptop()
    here.write(`${CLAUDE}/s1.jsonl`, rows(0, 2))
    here.write(`${CLAUDE}/memory/MEMORY.md`, 'to be remembered')
    here.write(`${CLAUDE}/sessions-index.json`, '{}')
    here.write(`${CLAUDE}/s1.jsonl.lock`, '')
    expect((await here.sync()).unread).toEqual([])
  })
})
