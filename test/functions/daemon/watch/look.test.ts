import { appendFileSync, closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { chanceOf } from '../../../../functions/cli/demo-text.ts'
import { ArchiveFile } from '../../../../functions/daemon/watch/archive-file.ts'
import { lostAnswer, lostRequest } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, RUN, watchedRun } from '../kit.ts'

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
