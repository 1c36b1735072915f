import { appendFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CLAUDE, laptop } from '../functions/daemon/sync/kit.ts'

// A session that was deleted at the server and grew here was sent as generation 0 and refused, now and for ever; and the
// files beside it that had not changed would have stayed away.

const row = (uuid: string) => `${JSON.stringify({ type: 'user', uuid, message: { content: uuid } })}\n`
const SOURCES = {
  's1.jsonl': `${CLAUDE}/s1.jsonl`,
  's1/tool-results/a.txt': `${CLAUDE}/s1/tool-results/a.txt`,
}

const archived = async () => {
  const here = await laptop()
  here.write(SOURCES['s1.jsonl'], row('1'))
  here.write(SOURCES['s1/tool-results/a.txt'], 'what was moved')
  await here.sync()
  const name = { harness: 'claude-code', id: 's1', machine: 'box' } as const
  const remove = () => here.server.client.removeSession(name)
  return { ...here, name, remove }
}

it.each([
  ['grows', () => row('2'), 'a'],
  ['is written anew', () => row('other'), 'w'],
])('a session that is deleted and then %s is archived whole', async (_, text, flag) => {
  const { remove, sync, path, expectExact } = await archived()
  await remove()
  appendFileSync(path(SOURCES['s1.jsonl']), text(), { flag })
  expect((await sync()).sessions).toMatchObject([{ outcome: 'archived', problems: [] }])
  await expectExact('claude-code', 's1', SOURCES)
  expect((await sync()).outcomes).toEqual({ s1: 'skipped' })
})

it('so is one that a server of an older backup has the beginning of', async () => {
  const { remove, server, name, sync, path, expectExact } = await archived()
  appendFileSync(path(SOURCES['s1.jsonl']), row('2'))
  await sync()
  await remove()
  const bytes = Buffer.from(row('1'))
  await server.client.appendFile(name, { path: 's1.jsonl', generation: 1, offset: 0, bytes })
  appendFileSync(path(SOURCES['s1.jsonl']), row('3'))
  expect((await sync()).outcomes).toEqual({ s1: 'archived' })
  await expectExact('claude-code', 's1', SOURCES)
})
