import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { CLAUDE, laptop } from '../functions/daemon/sync/kit.ts'

// One folder that could not be read ended the whole pass, and nothing of any session was sent. A file whose name is not
// UTF-8 counted as skipped. Of two files that are the same one of a session, whichever was found last was sent.

const LOCKED = 'locked'

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>()
  const readdir = async (path: string, options: object) => {
    if (path.endsWith(LOCKED)) throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
    return real.readdir(path, options)
  }
  return { ...real, readdir }
})

const row = (uuid: string) => `${JSON.stringify({ type: 'user', uuid, message: { content: uuid } })}\n`

it('a folder that cannot be read is told, and the others are archived', async () => {
  const { write, sync, path } = await laptop()
  write(`${CLAUDE}/one.jsonl`, row('1'))
  write(`.claude/projects/${LOCKED}/two.jsonl`, row('2'))
  write('.claude/projects/z/three.jsonl', row('3'))
  const { outcomes, unread } = await sync()
  expect(outcomes).toEqual({ one: 'archived', three: 'archived' })
  expect(unread).toMatchObject([
    { source: path(`.claude/projects/${LOCKED}`), reason: expect.stringContaining('cannot be read') },
  ])
})

it('a name that is not UTF-8 is told', async () => {
  const { write, sync, path } = await laptop()
  write(`${CLAUDE}/one.jsonl`, row('1'))
  const name = Buffer.concat([
    Buffer.from(join(path(CLAUDE), 'a')),
    Buffer.from([0xff]),
    Buffer.from('.jsonl'),
  ])
  try {
    writeFileSync(name, row('2'))
  } catch {
    return // a file system that takes no such name
  }
  const { outcomes, unread } = await sync()
  expect(outcomes).toEqual({ one: 'archived' })
  expect(unread.map(({ reason }) => reason)).toEqual(['its name is not UTF-8'])
})

it('of one file in two folders the one that is written to is sent, and the other is told', async () => {
  const { write, sync, path, expectExact } = await laptop()
  const [old, inUse] = ['.claude/projects/z/s.jsonl', `${CLAUDE}/s.jsonl`]
  write(old, row('1'))
  write(inUse, row('1') + row('2'))
  mkdirSync(path('.claude/projects/empty'))
  utimesSync(path(old), 1000, 1000)
  const { unread, outcomes } = await sync()
  expect(outcomes).toEqual({ s: 'archived' })
  expect(unread).toMatchObject([{ source: path(old), reason: expect.stringContaining(path(inUse)) }])
  await expectExact('claude-code', 's', { 's.jsonl': inUse })
})
