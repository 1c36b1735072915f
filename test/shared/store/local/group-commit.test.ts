import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, it } from 'vitest'
import { GroupCommit } from '../../../../shared/store/local/database.ts'
import { Disk } from '../../../../shared/store/local/disk.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'

let database: DatabaseSync
let commits: GroupCommit
let fatal: unknown
beforeEach(() => {
  const folder = temporaryFolder()
  fatal = undefined
  const onFatal = (error: unknown) => {
    fatal = error
  }
  database = new DatabaseSync(path.join(folder, 'test.sqlite'))
  database.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)')
  commits = new GroupCommit(database, new Disk(folder, { clock: manualClock(), onFatal }))
})

const insert = (n: number) => commits.write(() => database.prepare('INSERT INTO t VALUES (?)').run(n).changes)
const stored = () =>
  database
    .prepare('SELECT n FROM t ORDER BY n')
    .all()
    .map(({ n }) => n)

it('writes that arrive together are one transaction, each with its own answer', async () => {
  let open = 0
  const acts = [1, 2, 3].map((n) =>
    commits.write(() => {
      open += database.isTransaction ? 1 : 0
      database.prepare('INSERT INTO t VALUES (?)').run(n)
      return n * 10
    }),
  )
  expect(open).toBe(0)
  expect(await Promise.all(acts)).toEqual([10, 20, 30])
  expect(open).toBe(3)
  expect(database.isTransaction).toBe(false)
})

it('when one fails none of them is done, and the next ones are', async () => {
  await insert(1)
  const results = await Promise.allSettled([insert(2), insert(1), insert(3)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(stored()).toEqual([1])
  await insert(4)
  expect(stored()).toEqual([1, 4])
  expect(fatal).toBeUndefined()
})

it('what comes after the end is refused, and is no broken disk', async () => {
  database.close()
  await expect(insert(1)).rejects.toMatchObject({ code: 'internal' })
  expect(fatal).toBeUndefined()
})

it('an input or output error of the database stops everything', async () => {
  const failure = Object.assign(new Error('disk I/O error'), { errcode: 10 | (4 << 8) })
  const act = () => {
    throw failure
  }
  await expect(commits.write(act)).rejects.toMatchObject({ code: 'internal', cause: failure })
  expect(fatal).toMatchObject({ cause: failure })
})
