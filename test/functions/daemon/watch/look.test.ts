import {
  appendFileSync,
  closeSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { chanceOf } from '../../../../functions/cli/demo-text.ts'
import { ArchiveFile } from '../../../../functions/daemon/watch/archive-file.ts'
import { lostAnswer, lostRequest, startServer } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, HERE, RUN, statusRecord, THERE, watchedRun } from '../kit.ts'

describe('a file that grows', () => {
  it('is on the server byte for byte, however its bytes come, for 200 seeds', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const chance = chanceOf(seed)
      const texts = Array.from({ length: 6 }, () => 'x'.repeat(chance.between(0, 60)))
      const whole = archiveOf(...texts)
      const run = await watchedRun()
      const file = openSync(run.path, 'w')
      let looking: Promise<unknown> | undefined
      for (let at = 0; at < whole.length; at++) {
        writeSync(file, whole, at, 1)
        // A pause: a look may begin in it, and go on while more bytes come.
        if (!chance.is(0.08)) continue
        looking ??= run.look().finally(() => {
          looking = undefined
        })
        for (let turns = chance.between(0, 4); turns > 0; turns--) await setImmediate()
      }
      closeSync(file)
      await looking
      await run.look()
      expect(await archived(run.server), `seed ${seed}`).toEqual(whole)
      expect(run.reports.filter(({ event }) => event === 'trouble')).toEqual([])
    }
  }, 60_000)

  it('is sent once whatever is lost on the way', async () => {
    const run = await watchedRun()
    run.server.mishaps.push(lostRequest, lostAnswer, lostAnswer, lostAnswer, lostAnswer)
    writeFileSync(run.path, archiveOf('a', 'b'))
    await run.look()
    run.server.mishaps.push(lostAnswer)
    appendFileSync(run.path, frameOf('c'))
    await run.look()
    expect(await archived(run.server)).toEqual(archiveOf('a', 'b', 'c'))
  })

  it('costs no request while it stands still', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    await run.look()
    const { length } = run.server.requests
    for (let i = 0; i < 5; i++) await run.look()
    expect(run.server.requests).toHaveLength(length)
  })

  it('keeps a torn tail back, and sends it when it is whole', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, Buffer.concat([archiveOf('a'), frameOf('b').subarray(0, -1)]))
    await run.look({ isQuiet: true })
    expect(await archived(run.server)).toEqual(archiveOf('a'))
    expect(run.reports).toContainEqual(
      expect.objectContaining({ event: 'torn', torn: expect.objectContaining({ reason: 'short_payload' }) }),
    )
    appendFileSync(run.path, frameOf('b').subarray(-1))
    await run.look()
    expect(await archived(run.server)).toEqual(archiveOf('a', 'b'))
    expect(run.state()?.torn).toBeNull()
  })

  it('does not believe that a frame is whole which is none but for the file ending there, until it is quiet', async () => {
    const run = await watchedRun()
    const junk = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 4]), Buffer.from('junk')])
    writeFileSync(run.path, Buffer.concat([archiveOf('a'), junk]))
    await run.look()
    expect(await archived(run.server)).toEqual(archiveOf('a'))
    await run.look({ isQuiet: true })
    expect(await archived(run.server)).toEqual(Buffer.concat([archiveOf('a'), junk]))
  })

  it('is read again as a whole only when it has grown by half, so that all its looks cost a few readings', async () => {
    const run = await watchedRun()
    const readings = vi.spyOn(ArchiveFile.prototype, 'reread')
    onTestFinished(() => readings.mockRestore())
    writeFileSync(run.path, archiveOf('0'))
    for (let i = 1; i <= 100; i++) {
      await run.look()
      appendFileSync(run.path, frameOf(String(i)))
    }
    const bytes = readings.mock.calls.reduce((sum, [end]) => sum + end, 0)
    expect(bytes).toBeLessThan(3 * statSync(run.path).size)
  })

  it('goes on where it was after the watcher has forgotten everything', async () => {
    const first = await watchedRun()
    writeFileSync(first.path, archiveOf('a', 'b'))
    await first.look()
    const again = await watchedRun(first.server)
    writeFileSync(again.path, archiveOf('a', 'b', 'c'))
    await again.look({ isFirst: true })
    expect(await archived(again.server)).toEqual(archiveOf('a', 'b', 'c'))
    expect((await again.server.client.leaseState(RUN)).epoch).toBe(1)
  })
})

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

describe('owning a run', () => {
  it('ends where another takes it: the report says who, and no byte gets through', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    await run.look()
    await run.server.client.acquire(RUN, { ...THERE, force: true })
    appendFileSync(run.path, frameOf('b'))
    await run.look()
    expect(run.reports.at(-1)).toMatchObject({
      event: 'trouble',
      trouble: { code: 'fenced', detail: expect.stringContaining('there/w has the run now') },
    })
    expect(await archived(run.server)).toEqual(archiveOf('a'))
    expect((await run.server.client.leaseState(RUN)).lease).toMatchObject(THERE)
  })

  it('waits for a lease that another holds, and does not fence it', async () => {
    const server = await startServer()
    const { epoch } = await server.client.acquire(RUN, THERE)
    const run = await watchedRun(server)
    writeFileSync(run.path, archiveOf('a'))
    const { again } = await run.look()
    expect(run.state()?.trouble).toMatchObject({ code: 'lease_held', stops: false })
    expect(again).toBeGreaterThanOrEqual(1000)
    await server.client.release(RUN, epoch)
    await run.look()
    expect(await archived(server)).toEqual(archiveOf('a'))
  })

  it('is not asked for by a file that is only a beginning of the archive', async () => {
    const server = await startServer()
    const { epoch } = await server.client.acquire(RUN, THERE)
    await server.client.append(RUN, { offset: 0, epoch, bytes: archiveOf('a', 'b') })
    await server.client.release(RUN, epoch)
    const run = await watchedRun(server)
    writeFileSync(run.path, archiveOf('a'))
    await run.look({ isFirst: true })
    expect(run.state()?.trouble).toMatchObject({ code: 'ahead', stops: false })
    expect((await server.client.leaseState(RUN)).epoch).toBe(epoch)
  })

  it('goes on under the same epoch after a crash', async () => {
    const before = await watchedRun()
    writeFileSync(before.path, archiveOf('a'))
    await before.look()
    const after = await watchedRun(before.server)
    writeFileSync(after.path, archiveOf('a', 'b'))
    await after.look({ isFirst: true })
    expect((await after.server.client.leaseState(RUN)).history).toHaveLength(1)
    expect((await after.server.client.leaseState(RUN)).lease).toMatchObject(HERE)
  })

  it('goes on when somebody of the same identity has given the lease back meanwhile', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    await run.look()
    await run.server.client.release(RUN, 1)
    appendFileSync(run.path, frameOf('b'))
    expect(await run.look()).toEqual({ again: 0 })
    await run.look()
    expect(await archived(run.server)).toEqual(archiveOf('a', 'b'))
    expect(run.reports.some(({ event }) => event === 'trouble')).toBe(false)
  })

  it('ends by itself when the run is finished', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf(statusRecord('running'), 'a'))
    await run.look()
    expect((await run.server.client.leaseState(RUN)).lease).toMatchObject(HERE)
    appendFileSync(run.path, frameOf(statusRecord('complete')))
    await run.look()
    expect((await run.server.client.leaseState(RUN)).lease).toBeNull()
  })

  it('is renewed at half time, for longer once the run is quiet, and let go in the end', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    expect(await run.look()).toEqual({ again: 30_000 })
    const renewals = () => run.server.requests.filter((request) => request.startsWith('PUT')).length
    const passed: number[] = []
    while (run.leases.epoch(RUN) !== undefined) {
      const { again = 0 } = await run.look()
      if (again === 0) break
      passed.push(again / 1000)
      run.pass(again)
    }
    expect(passed.slice(0, 5)).toEqual([30, 30, 30, 30, 300])
    expect(passed.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(3600 + 300)
    expect(renewals()).toBe(passed.length - 1)
    expect((await run.server.client.leaseState(RUN)).lease).toBeNull()
  })
})

describe('a server that is not there', () => {
  it('is an outage and no trouble of the run, which goes on afterwards', async () => {
    const run = await watchedRun()
    writeFileSync(run.path, archiveOf('a'))
    run.server.mishaps.push(...Array.from({ length: 7 }, () => lostRequest))
    expect(await run.look()).toMatchObject({ outage: { code: 'unavailable' } })
    expect(run.state()).toMatchObject({ trouble: null, archived: null })
    await run.look()
    expect(await archived(run.server)).toEqual(archiveOf('a'))
    expect(run.reports.map(({ event }) => event)).toEqual(['shipped'])
  })
})
