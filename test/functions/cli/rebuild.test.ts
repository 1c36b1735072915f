import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSessionArchive } from '#sessions/archive'
import { createArchive, createTokens, rebuild as rebuildStore, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { LIMITS, StoredRun, say } from '../../kit/stored-run.ts'
import { cliIn } from './kit.ts'

const lose = (data: string) => {
  for (const end of ['', '-wal', '-shm']) rmSync(join(data, `index.sqlite${end}`), { force: true })
}

/** A data folder with two runs and a deleted one, whose index is lost; another writer left an object at the end of `torn`. */
const ruined = async (isTorn = false) => {
  const { folder, run } = cliIn()
  const data = join(folder, 'data')
  const store = await openLocalStore(data)
  const archive = createArchive(store.ports, { clock: systemClock, limits: LIMITS })
  const one = await StoredRun.begin(archive, 'one')
  await one.append(say('a'), say('b'))
  const gone = await StoredRun.begin(archive, 'gone')
  await archive.remove(gone.key, { force: true })
  if (isTorn) {
    const torn = await StoredRun.begin(archive, 'torn')
    await torn.append(say('certain'))
    const { commit } = store.ports.index
    store.ports.index.commit = async () => {
      throw new Error('a crash')
    }
    await torn.append(say('of the other')).catch(() => {})
    store.ports.index.commit = commit
    await torn.append(say('of the one'))
  }
  store.close()
  lose(data)
  return { data, run, one }
}

it('rebuild gives the runs of a data folder back, and the admin token opens them', async () => {
  const { data, run, one } = await ruined()
  const { code, out } = await run(`rebuild --data ${data}`)
  expect(out).toContain('default/one: ')
  expect(out).toContain('1 run given back, 1 deleted, 0 known already, 0 failed')
  expect(code).toBe(0)

  const store = await openLocalStore(data)
  const archive = createArchive(store.ports, { clock: systemClock, limits: LIMITS })
  expect((await archive.view(one.key)).head).toMatchObject({ tail: one.tail, frames: 2 })
  const token = readFileSync(join(data, 'admin-token'), 'utf8').trim()
  expect(await createTokens(store.ports.tokens, systemClock).check(token)).toMatchObject({
    tenant: 'default',
  })
  store.close()

  const again = await run(`rebuild --data ${data} --json`)
  expect(again.lines.map(({ run_id, outcome }) => [run_id, outcome])).toEqual([
    ['gone', 'known'],
    ['one', 'known'],
  ])
})

it('rebuild names what it cannot decide, and ends with a code of its own', async () => {
  const { data, run } = await ruined(true)
  const { code, lines } = await run(`rebuild --data ${data} --json`)
  expect(code).toBe(10)
  const torn = lines.find(({ run_id }) => run_id === 'torn')
  expect(torn).toMatchObject({ outcome: 'rebuilt', frames: 1, lost: null })
  expect(torn?.undecided).toHaveLength(2)

  lose(data)
  const { err } = await run(`rebuild --data ${data}`)
  expect(err).toContain('default/torn: ends at ')
  expect(err).toContain('  runs/default/torn/')
})

it('rebuild names a run it gives back though its deletion was begun', async () => {
  const { data, run, one } = await ruined()
  const store = await openLocalStore(data)
  for await (const _ of rebuildStore(store.ports, systemClock));
  store.ports.index.commit = async () => {
    throw new Error('a crash')
  }
  const archive = createArchive(store.ports, { clock: systemClock, limits: LIMITS })
  await archive.remove(one.key, { force: true }).catch(() => {})
  store.close()
  lose(data)
  const { code, err } = await run(`rebuild --data ${data}`)
  expect([code, err]).toEqual([
    0,
    'default/one: a deletion was begun and may have been made; delete the run again if that was meant\n',
  ])
  lose(data)
  const { lines } = await run(`rebuild --data ${data} --json`)
  expect(lines.map(({ run_id, ending }) => [run_id, ending])).toEqual([
    ['gone', null],
    ['one', expect.stringMatching(/^runs\/default\/one\/ending-/)],
  ])
})

it('rebuild wants a store that there is', async () => {
  const { run } = cliIn()
  expect((await run('rebuild --store elsewhere')).code).toBe(2)
  expect((await run('rebuild --store aws')).err).toContain('RUNFOLD_BUCKET')
})

it('rebuild makes no store where there was none', async () => {
  const { folder, run } = cliIn()
  const data = join(folder, 'mistyped')
  const { code, err } = await run(`rebuild --data ${data}`)
  expect([code, err]).toEqual([
    2,
    `runfold: there are no stored objects in ${data}; name the data folder by --data\n`,
  ])
  expect(existsSync(data)).toBe(false)
})

it('rebuild gives sessions back, and makes their documents anew with --sessions', async () => {
  const { folder, run } = cliIn()
  const data = join(folder, 'data')
  const session = { tenant: 'default', machine: 'box', harness: 'claude-code', id: 'sid' } as const
  const row = Buffer.from('{"type":"user","uuid":"u1","message":{"role":"user","content":"hello"}}\n')
  const begun = await openLocalStore(data)
  const options = { clock: systemClock, limits: LIMITS }
  const request = { path: 'sid.jsonl', generation: 1, offset: 0, bytes: row }
  await createSessionArchive(begun.ports, options).append(session, request)
  begun.close()
  lose(data)

  const { code, out } = await run(`rebuild --data ${data}`)
  expect(code).toBe(0)
  expect(out).toContain('default/box/claude-code/sid: 1 file, ')
  expect(out).toContain('1 session given back, 0 deleted, 0 known already, 0 failed')
  const again = await run(`rebuild --sessions --data ${data} --json`)
  expect([again.code, again.lines]).toMatchObject([0, [{ ...session, outcome: 'derived', documents: 1 }]])

  const store = await openLocalStore(data)
  const { items } = await createSessionArchive(store.ports, options).list('default', { limit: 9 })
  expect(items).toMatchObject([{ id: 'sid', title: 'hello', message_count: 1 }])
  store.close()
})
