import { type BigIntStats, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it, vi } from 'vitest'
import { newCounters } from '../../../../functions/daemon/sync/counters.ts'
import { SourceFile } from '../../../../functions/daemon/sync/source-file.ts'
import { CLAUDE, laptop, rows } from './kit.ts'

const opened = vi.hoisted(() => ({ after: (_: string): void => undefined }))
/** Of a file system that counts time so; some do by the nanosecond, which hides what is tested. */
const TICK_MS = 10n

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>()
  const open: typeof real.open = async (path, ...rest) => {
    const handle = await real.open(path, ...rest)
    const { stat } = handle
    opened.after(String(path))
    handle.stat = (async () =>
      coarse((await stat.call(handle, { bigint: true })) as BigIntStats)) as typeof handle.stat
    return handle
  }
  return { ...real, open }
})

const coarse = (found: BigIntStats): BigIntStats => {
  const ms = (found.ctimeMs / TICK_MS) * TICK_MS
  const times = { ctimeMs: ms, ctimeNs: ms * 1_000_000n, mtimeMs: ms, mtimeNs: ms * 1_000_000n }
  return Object.assign(Object.create(Object.getPrototypeOf(found)), found, times)
}

it('a change within the same tick of the file system’s clock is no less a change', async () => {
  const { home, path, write } = await laptop()
  write('file.jsonl', '')
  for (let round = 0; round < 20; round++) {
    write('file.jsonl', 'a')
    await using file = await SourceFile.open(
      { source: path('file.jsonl'), isPacked: false },
      home,
      newCounters(),
    )
    writeFileSync(path('file.jsonl'), 'b')
    expect(await file?.isUnchanged()).toBe(false)
  }
})

it('a file whose folder goes away while it is opened has vanished, and nothing has failed', async () => {
  const here = await laptop()
  here.write(`${CLAUDE}/s1.jsonl`, rows(0, 2))
  here.write(`${CLAUDE}/s1/tool-results/a.txt`, 'x')
  opened.after = (path) => {
    if (path.endsWith('a.txt')) renameSync(dirname(path), here.path('gone'))
  }
  const { sessions } = await here.sync()
  expect(sessions).toMatchObject([{ outcome: 'archived', problems: [] }])
  rmSync(here.path('gone'), { recursive: true })
  expect((await here.sync()).outcomes).toEqual({ s1: 'skipped' })
})
