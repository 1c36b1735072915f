import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { CLAUDE, laptop } from '../functions/daemon/sync/kit.ts'

// What a sync remembers only spares it work, but where its disk was full the sync ended, or sessions whose bytes had been
// sent failed as files that "cannot be read".

const row = `${JSON.stringify({ type: 'user', uuid: 'u', message: { content: 'hello' } })}\n`

it('a sync archives everything where it can remember nothing', async () => {
  const { write, sync, expectExact } = await laptop()
  write('.state', 'a file where a folder should be')
  write(`${CLAUDE}/s1.jsonl`, row)
  const forgetful: string[] = []
  expect((await sync({}, { forgetful: (reason) => forgetful.push(reason) })).outcomes).toEqual({
    s1: 'archived',
  })
  expect(forgetful).toEqual([expect.stringContaining('.state')])
  await expectExact('claude-code', 's1', { 's1.jsonl': `${CLAUDE}/s1.jsonl` })
  expect((await sync()).outcomes).toEqual({ s1: 'skipped' })
})

it('nor does a disk that fills while it goes on fail a session', async () => {
  const { write, sync, expectExact } = await laptop()
  write(`${CLAUDE}/s1.jsonl`, row)
  const { prepare } = DatabaseSync.prototype
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare')
  onTestFinished(() => spy.mockRestore())
  spy.mockImplementation(function (this: DatabaseSync, sql: string) {
    const statement = prepare.call(this, sql)
    if (this.location() !== null && sql.startsWith('INSERT'))
      statement.run = () => {
        throw new Error('database or disk is full')
      }
    return statement
  })
  const { outcomes, sessions } = await sync()
  expect(outcomes).toEqual({ s1: 'archived' })
  expect(sessions[0]?.problems).toEqual([])
  await expectExact('claude-code', 's1', { 's1.jsonl': `${CLAUDE}/s1.jsonl` })
})
