import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startServer } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, RUN, THERE, watchedRun } from '../kit.ts'

describe('a file that is not what was sent of it', () => {
  const changes: Record<string, (path: string) => void> = {
    truncated: (path) => truncateSync(path, archiveOf('a').length),
    replaced: (path) => {
      writeFileSync(`${path}.new`, archiveOf('A', 'b', 'c', 'd'))
      renameSync(`${path}.new`, path)
    },
    rewritten: (path) => writeFileSync(path, archiveOf('A', 'b', 'c')),
  }
  for (const [code, change] of Object.entries(changes)) {
    it(`stops its run, and keeps the archive as it was: ${code}`, async () => {
      const run = await watchedRun()
      writeFileSync(run.path, archiveOf('a', 'b', 'c'))
      await run.look()
      change(run.path)
      await run.look()
      appendFileSync(run.path, frameOf('e'))
      await run.look()
      expect(run.state()?.trouble).toMatchObject({ code, stops: true })
      expect(run.reports.filter(({ event }) => event === 'trouble')).toHaveLength(1)
      expect(await archived(run.server)).toEqual(archiveOf('a', 'b', 'c'))
      expect((await run.server.client.leaseState(RUN)).lease).toBeNull()
    })

    it(`stays stopped when the watcher is started again: ${code}`, async () => {
      const run = await watchedRun()
      writeFileSync(run.path, archiveOf('a', 'b', 'c'))
      await run.look()
      change(run.path)
      await run.look()
      for (const isFirst of [true, true, false]) {
        await run.look({ isFirst })
        expect(run.state()?.trouble).toMatchObject({ code, stops: true })
      }
      expect(await archived(run.server)).toEqual(archiveOf('a', 'b', 'c'))
    })

    it(`goes on when the file is mended: ${code}`, async () => {
      const run = await watchedRun()
      writeFileSync(run.path, archiveOf('a', 'b', 'c'))
      await run.look()
      change(run.path)
      await run.look()
      writeFileSync(`${run.path}.new`, archiveOf('a', 'b', 'c', 'd'))
      renameSync(`${run.path}.new`, run.path)
      await run.look()
      expect(run.state()?.trouble).toBeNull()
      expect(await archived(run.server)).toEqual(archiveOf('a', 'b', 'c', 'd'))
    })
  }

  it('is found out even when it also grew', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a', 'b', 'c'))
    await run.look()
    writeFileSync(run.path, archiveOf('a', 'B', 'c', 'd'))
    await run.look()
    expect(run.state()?.trouble).toMatchObject({ code: 'rewritten' })
  })

  it('does no harm when another file with the same beginning takes its place', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    await run.look()
    writeFileSync(`${run.path}.new`, archiveOf('a', 'b'))
    renameSync(`${run.path}.new`, run.path)
    await run.look()
    expect(await archived(run.server)).toEqual(archiveOf('a', 'b'))
  })

  it('that vanishes takes nothing from the archive, and gives the lease back', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    await run.look()
    rmSync(run.path)
    await run.look()
    expect(run.state()?.trouble).toMatchObject({ code: 'missing' })
    expect((await run.server.client.leaseState(RUN)).lease).toBeNull()
    writeFileSync(run.path, archiveOf('a', 'b'))
    await run.look()
    expect(run.reports.at(-2)).toMatchObject({ event: 'mended' })
    expect(await archived(run.server)).toEqual(archiveOf('a', 'b'))
  })

  it('is never sent over an archive that is another', async () => {
    const server = await startServer()
    const { epoch } = await server.client.acquire(RUN, THERE)
    await server.client.append(RUN, { offset: 0, epoch, bytes: archiveOf('other') })
    await server.client.release(RUN, epoch)
    const run = await watchedRun(server)
    writeFileSync(run.path, archiveOf('mine!', 'b'))
    await run.look({ isFirst: true })
    expect(run.state()?.trouble).toMatchObject({ code: 'offset_conflict', stops: true })
    // Not even the epoch moved: whoever owns the run was not disturbed.
    expect((await server.client.leaseState(RUN)).epoch).toBe(epoch)
  })

  it('does not come back to a server where the run was deleted', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    await run.look()
    await run.server.client.remove(RUN, true)
    appendFileSync(run.path, frameOf('b'))
    await run.look()
    expect(run.state()?.trouble).toMatchObject({ code: 'not_found', stops: true })
    await expect(run.server.client.tail(RUN)).rejects.toMatchObject({ code: 'not_found' })
  })
})
