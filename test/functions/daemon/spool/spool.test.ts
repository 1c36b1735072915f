import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunLog } from '../../../../functions/daemon/spool/run-log.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { startServer } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, RUN } from '../kit.ts'
import { drain, spoolIn, waiting } from './kit.ts'

describe('a spool', () => {
  it('keeps what was appended over the end of its process', async () => {
    const folder = temporaryFolder()
    {
      using spool = await spoolIn(folder, { fsync: 'always' })
      expect(await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })).toBe(
        archiveOf('a').length,
      )
      await spool.append({ run_id: RUN, offset: archiveOf('a').length, bytes: frameOf('b') })
    }
    using again = await spoolIn(folder)
    expect(await waiting(again)).toEqual(archiveOf('a', 'b'))
    expect(again.end(RUN)).toBe(archiveOf('a', 'b').length)
  })

  it('tells names apart that some file systems take for one', async () => {
    const folder = temporaryFolder()
    {
      using spool = await spoolIn(folder)
      await spool.append({ run_id: 'Run', offset: 0, bytes: archiveOf('A') })
      await spool.append({ run_id: 'run', offset: 0, bytes: archiveOf('a') })
    }
    using again = await spoolIn(folder)
    expect(again.runs().toSorted()).toEqual(['Run', 'run'])
    expect(await waiting(again, 'Run')).toEqual(archiveOf('A'))
    const names = readdirSync(folder).map((name) => name.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
  })

  it('takes appends that come together in their order', async () => {
    using spool = await spoolIn(temporaryFolder())
    const texts = Array.from({ length: 50 }, (_, i) => `text ${i}`)
    let offset = 0
    const ends = texts.map((text, i) => {
      const bytes = i === 0 ? archiveOf(text) : frameOf(text)
      offset += bytes.length
      return spool.append({ run_id: RUN, offset: offset - bytes.length, bytes })
    })
    expect((await Promise.all(ends)).at(-1)).toBe(offset)
    expect(await waiting(spool)).toEqual(archiveOf(...texts))
  })

  it('refuses what does not begin where the run ends, and what is not whole', async () => {
    using spool = await spoolIn(temporaryFolder())
    const append = (offset: number, bytes: Uint8Array) => spool.append({ run_id: RUN, offset, bytes })
    const { length } = archiveOf('a')
    await append(0, archiveOf('a'))
    await expect(append(length + 1, frameOf('b'))).rejects.toMatchObject({
      code: 'gap',
      facts: { tail: length },
    })
    await expect(append(0, archiveOf('b'))).rejects.toMatchObject({
      code: 'overlap',
      facts: { tail: length },
    })
    await expect(append(length, frameOf('b').subarray(1))).rejects.toMatchObject({ code: 'bad_frames' })
    expect(await waiting(spool)).toEqual(archiveOf('a'))
  })

  it('says clearly that it is full, and goes on when there is room', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder(), { maxBytes: 300 })
    await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('x'.repeat(100)) })
    const next = { run_id: RUN, offset: spool.end(RUN) ?? 0, bytes: frameOf('y'.repeat(100)) }
    await expect(spool.append(next)).rejects.toMatchObject({ code: 'slow_down', facts: { max_bytes: 300 } })
    await drain(server, spool)
    await spool.append(next)
    await drain(server, spool)
    expect(await archived(server)).toEqual(archiveOf('x'.repeat(100), 'y'.repeat(100)))
  })

  it('belongs to one process', async () => {
    const folder = temporaryFolder()
    using _ = await spoolIn(folder)
    await expect(spoolIn(folder)).rejects.toThrow('another process uses the spool')
  })

  it('does not take what is still being written for something to send', async () => {
    const log = await RunLog.open(temporaryFolder(), false)
    const written = log.append(5000, { epoch: 1, bytes: frameOf('a') })
    expect([log.durableEnd, log.end]).toEqual([undefined, 5000 + frameOf('a').length])
    expect(await written).toBe(log.durableEnd)
  })

  it('takes a run’s first append again after its folder could not be made', async () => {
    const folder = temporaryFolder()
    using spool = await spoolIn(folder)
    writeFileSync(join(folder, RUN), 'stands in the way')
    await expect(spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })).rejects.toThrow(
      /EEXIST|ENOTDIR/,
    )
    rmSync(join(folder, RUN))
    expect(await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })).toBe(archiveOf('a').length)
  })

  it('keeps what is appended at once behind a discarding', async () => {
    const folder = temporaryFolder()
    {
      using spool = await spoolIn(folder)
      await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })
      const discarded = spool.discard(RUN)
      const again = spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('b') })
      await Promise.all([discarded, again])
    }
    using spool = await spoolIn(folder)
    expect(await waiting(spool)).toEqual(archiveOf('b'))
  })

  it('discards also what is being written', async () => {
    using spool = await spoolIn(temporaryFolder())
    const appended = spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })
    await new Promise((resolve) => setImmediate(resolve))
    while (spool.end(RUN) === undefined) await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([appended, spool.discard(RUN)])
    expect(spool.runs()).toEqual([])
  })

  it('writes nothing more when it was given free, and keeps its folder until what it writes is written', async () => {
    const folder = temporaryFolder()
    const spool = await spoolIn(folder)
    const appended = spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })
    spool[Symbol.dispose]()
    await expect(spoolIn(folder)).rejects.toThrow('another process uses the spool')
    await appended
    await expect(spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('b') })).rejects.toThrow('is closed')
    await expect.poll(() => spoolIn(folder).then((next) => next.end(RUN))).toBe(archiveOf('a').length)
  })

  it('opens though something was written into its lock', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'spool.lock'), '4711\n')
    using _ = await spoolIn(folder)
    await expect(spoolIn(folder)).rejects.toThrow('another process uses the spool')
  })
})
