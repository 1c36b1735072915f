import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SpoolDamaged } from '../../../../functions/daemon/spool/index.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { startServer } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, RUN } from '../kit.ts'
import { drain, segmentIn, spoolIn } from './kit.ts'

describe('a spool of which something acknowledged is damaged', () => {
  /** Two runs of two records each; the bytes of RUN's segment are changed while nobody has the spool. */
  const damaged = async (change: (bytes: Buffer) => Buffer) => {
    const folder = temporaryFolder()
    {
      using spool = await spoolIn(folder)
      for (const run_id of [RUN, 'other']) {
        await spool.append({ run_id, offset: 0, bytes: archiveOf('a') })
        await spool.append({ run_id, offset: archiveOf('a').length, bytes: frameOf('b') })
      }
    }
    const segment = join(folder, RUN, '0000000000000000.spool')
    writeFileSync(segment, change(readFileSync(segment)))
    return { folder, segment }
  }
  const flipped = (at: number) => (bytes: Buffer) => {
    bytes[at] = (bytes[at] ?? 0) ^ 1
    return bytes
  }

  it('sends what stands before and all other runs, says where, and keeps the rest on the disk', async () => {
    for (const [at, kept] of [
      [20, 0],
      [16 + archiveOf('a').length + 17, archiveOf('a').length],
    ] as const) {
      const server = await startServer()
      const { folder, segment } = await damaged((bytes) =>
        Buffer.concat([flipped(at)(bytes), Buffer.from('behind')]),
      )
      const before = readFileSync(segment)
      using spool = await spoolIn(folder)
      const next = { run_id: RUN, offset: spool.end(RUN) ?? 0, bytes: frameOf('c') }
      if (next.offset > 0) await expect(spool.append(next)).rejects.toThrow(SpoolDamaged)
      const stopped = await drain(server, spool)
      expect([...stopped.keys()]).toEqual([RUN])
      expect(String(stopped.get(RUN))).toMatch(/is damaged in the record at/)
      expect(await archived(server, 'other')).toEqual(archiveOf('a', 'b'))
      if (kept > 0) expect(await archived(server)).toEqual(archiveOf('a'))
      expect(readFileSync(segment)).toEqual(before)
      await spool.discard(RUN)
      await spool.append({ run_id: RUN, offset: kept, bytes: kept > 0 ? frameOf('d') : archiveOf('d') })
      expect((await drain(server, spool)).size).toBe(0)
    }
  })

  it('sends nothing behind a segment of which the end is missing', async () => {
    const server = await startServer()
    const folder = temporaryFolder()
    const large = frameOf('x'.repeat(9 * 1024 * 1024))
    {
      using spool = await spoolIn(folder)
      await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })
      await spool.append({ run_id: RUN, offset: archiveOf('a').length, bytes: large })
      await spool.append({ run_id: RUN, offset: archiveOf('a').length + large.length, bytes: frameOf('b') })
    }
    truncateSync(segmentIn(folder), 1000)
    using spool = await spoolIn(folder)
    const stopped = await drain(server, spool)
    expect(String(stopped.get(RUN))).toMatch(/is missing from \d+ on/)
    expect(await archived(server)).toEqual(archiveOf('a'))
    expect(readFileSync(segmentIn(folder)).length).toBe(1000)
  })

  it('stops the run whose file loses its end, or is removed, under the process that writes it', async () => {
    const harms = [
      (path: string) => truncateSync(path, statSync(path).size - 1),
      (path: string) => rmSync(path),
    ]
    for (const harm of harms) {
      for (const isAppended of [true, false]) {
        const server = await startServer()
        const folder = temporaryFolder()
        using spool = await spoolIn(folder)
        await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })
        await drain(server, spool)
        const { length } = archiveOf('a')
        await spool.append({ run_id: RUN, offset: length, bytes: frameOf('lost') })
        harm(segmentIn(folder))
        if (isAppended) {
          const next = { run_id: RUN, offset: length + frameOf('lost').length, bytes: frameOf('next') }
          await expect(spool.append(next)).rejects.toThrow(SpoolDamaged)
        }
        const stopped = await drain(server, spool)
        expect(stopped.get(RUN)).toBeInstanceOf(SpoolDamaged)
        expect(await archived(server)).toEqual(archiveOf('a'))
      }
    }
  })
})
