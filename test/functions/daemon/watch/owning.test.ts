import { appendFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startServer } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, HERE, RUN, statusRecord, THERE, watchedRun } from '../kit.ts'

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
