import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Redacted } from '#client'
import { stateFolderOf } from '../../../../functions/daemon/identity.ts'
import { openWatcher } from '../../../../functions/daemon/watch/open-watcher.ts'
import type { WatchReport } from '../../../../functions/daemon/watch/report.ts'
import { isWatched } from '../../../../functions/daemon/watch/state-file.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { lostRequest, refused, type Server, startServer, URL_OF_SERVER } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, statusRecord, THERE } from '../kit.ts'

/** A watcher at work on a folder of its own; what it reports can be waited for, which takes no more time than it needs. */
const watching = async (given?: Server, home = temporaryFolder()) => {
  const server = given ?? (await startServer())
  const folder = join(home, 'runs')
  mkdirSync(folder, { recursive: true })
  const reports: WatchReport[] = []
  const waiting = new Set<() => void>()
  const stop = new AbortController()
  const options = {
    folder,
    url: URL_OF_SERVER,
    token: new Redacted(server.token),
    env: { HOME: home },
    fetch: server.fetch,
    retry: { firstPauseMs: 1, longestPauseMs: 1 },
    policy: { ttl_s: 60, hold_s: 3600 },
    signal: new AbortController().signal,
    report: (report: WatchReport) => {
      reports.push(report)
      for (const look of waiting) look()
    },
  }
  const watcher = await openWatcher(options)
  if (!watcher) throw new Error('somebody else watches')
  const ended = watcher.watch(stop.signal)
  return {
    server,
    folder,
    reports,
    options,
    write: (run: string, bytes: Uint8Array) => {
      mkdirSync(join(folder, run), { recursive: true })
      appendFileSync(join(folder, run, 'run.lvr'), bytes)
    },
    /** The first report from now or before for which `isIt` holds. */
    told: async (isIt: (report: WatchReport) => boolean) => {
      for (;;) {
        const found = reports.find(isIt)
        if (found) return found
        await new Promise<void>((resolve) => {
          const look = () => {
            waiting.delete(look)
            resolve()
          }
          waiting.add(look)
        })
      }
    },
    /** Ends as SIGTERM does. */
    end: async () => {
      stop.abort()
      await ended
      watcher[Symbol.dispose]()
    },
  }
}

const shipped = (run: string, tail: number) => (report: WatchReport) =>
  report.event === 'shipped' && report.run_id === run && report.tail === tail

describe('watching a folder', () => {
  it('sends what runs that are there, and runs that come, are appended', async () => {
    const watch = await watching()
    await watch.told(({ event }) => event === 'started')
    watch.write('one', archiveOf('a'))
    await watch.told(shipped('one', archiveOf('a').length))
    watch.write('one', frameOf('b'))
    await watch.told(shipped('one', archiveOf('a', 'b').length))
    writeFileSync(join(watch.folder, 'two.lvr'), archiveOf('c'))
    await watch.told(shipped('two', archiveOf('c').length))
    await watch.end()
    expect(await archived(watch.server, 'one')).toEqual(archiveOf('a', 'b'))
  })

  it('sends at its end what came last, and gives the leases back', async () => {
    const watch = await watching()
    watch.write('one', archiveOf('a'))
    await watch.told(shipped('one', archiveOf('a').length))
    watch.write('one', frameOf('b'))
    await watch.end()
    expect(watch.reports.at(-1)).toEqual({ event: 'ended', unsent: 0 })
    expect(await archived(watch.server, 'one')).toEqual(archiveOf('a', 'b'))
    expect((await watch.server.client.leaseState('one')).lease).toBeNull()
  })

  it('sends at its end what came to a run that was finished, and runs that it has not seen', async () => {
    const watch = await watching()
    watch.write('one', archiveOf(statusRecord('complete')))
    await watch.told(shipped('one', archiveOf(statusRecord('complete')).length))
    watch.write('one', frameOf('more'))
    watch.write('two', archiveOf('new'))
    await watch.end()
    expect(await archived(watch.server, 'one')).toEqual(archiveOf(statusRecord('complete'), 'more'))
    expect(await archived(watch.server, 'two')).toEqual(archiveOf('new'))
  })

  it('has the folder to itself', async () => {
    const watch = await watching()
    const state = await stateFolderOf(watch.folder, watch.options.env)
    expect(await openWatcher(watch.options)).toBeUndefined()
    expect(isWatched(state)).toBe(true)
    await watch.end()
    expect(isWatched(state)).toBe(false)
    const next = await openWatcher(watch.options)
    expect(next).toBeDefined()
    next?.[Symbol.dispose]()
  })

  it('lets one run try for all while the server is away', async () => {
    const server = await startServer()
    const home = temporaryFolder()
    for (const run of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      mkdirSync(join(home, 'runs', run), { recursive: true })
      writeFileSync(join(home, 'runs', run, 'run.lvr'), archiveOf(run))
    }
    server.mishaps.push(...Array.from({ length: 12 }, () => lostRequest))
    const watch = await watching(server, home)
    await watch.told(({ event }) => event === 'reached')
    await watch.told(shipped('h', archiveOf('h').length))
    await watch.end()
    expect(watch.reports.filter(({ event }) => event === 'outage')).toHaveLength(1)
    expect(watch.reports.filter(({ event }) => event === 'shipped')).toHaveLength(8)
  })

  it('goes on with the others, and says which it is, while one run alone is answered with 500', async () => {
    const server = await startServer()
    const broken = (request: string) => /\/runs\/broken[/?]/.test(request)
    const fetchOthers: typeof fetch = async (input, init) =>
      broken(`${input}`) && init?.method !== 'HEAD'
        ? refused(500, 'internal')(new Request(input), async () => new Response())
        : server.fetch(input, init)
    const watch = await watching({ ...server, fetch: fetchOthers })
    watch.write('broken', archiveOf('a'))
    await watch.told(({ event }) => event === 'outage')
    let tail = archiveOf('a').length
    watch.write('healthy', archiveOf('a'))
    await watch.told(shipped('healthy', tail))
    const isTold = (report: WatchReport) => report.event === 'trouble' && report.run_id === 'broken'
    while (!watch.reports.some(isTold)) {
      watch.write('healthy', frameOf('b'))
      tail += frameOf('b').length
      await watch.told(shipped('healthy', tail))
    }
    await watch.end()
    expect(watch.reports.find(isTold)).toMatchObject({ trouble: { code: 'internal', stops: false } })
    expect(watch.reports.filter(({ event }) => event === 'outage')).toHaveLength(2)
    expect(watch.reports.at(-1)).toEqual({ event: 'ended', unsent: 1 })
  })

  it('does not knock at every tick at a server that says to come later', async () => {
    const server = await startServer()
    let refusals = 0
    let isRefusing = false
    const fetchUntil: typeof fetch = async (input, init) => {
      if (!isRefusing) return server.fetch(input, init)
      refusals++
      return refused(401, 'unauthorized')(new Request(input), async () => new Response())
    }
    const watch = await watching({ ...server, fetch: fetchUntil })
    watch.write('one', archiveOf('a'))
    await watch.told(shipped('one', archiveOf('a').length))
    isRefusing = true
    watch.write('one', frameOf('b'))
    await watch.told(({ event }) => event === 'outage')
    const asked = refusals
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(refusals).toBe(asked)
    isRefusing = false
    await watch.end()
    expect(await archived(server, 'one')).toEqual(archiveOf('a', 'b'))
  })

  it('stops only the run that another has taken', async () => {
    const watch = await watching()
    watch.write('mine', archiveOf('a'))
    watch.write('taken', archiveOf('a'))
    await watch.told(shipped('mine', archiveOf('a').length))
    await watch.told(shipped('taken', archiveOf('a').length))
    await watch.server.client.acquire('taken', { ...THERE, force: true })
    watch.write('taken', frameOf('b'))
    await watch.told((report) => report.event === 'trouble' && report.trouble.code === 'fenced')
    watch.write('mine', frameOf('b'))
    await watch.told(shipped('mine', archiveOf('a', 'b').length))
    await watch.end()
    expect(await archived(watch.server, 'taken')).toEqual(archiveOf('a'))
  })

  it('notices that a run’s folder is gone, and lets others have the run', async () => {
    const watch = await watching()
    watch.write('one', archiveOf('a'))
    await watch.told(shipped('one', archiveOf('a').length))
    rmSync(join(watch.folder, 'one'), { recursive: true })
    await watch.told((report) => report.event === 'trouble' && report.trouble.code === 'missing')
    await watch.end()
    expect((await watch.server.client.leaseState('one')).lease).toBeNull()
    expect(await archived(watch.server, 'one')).toEqual(archiveOf('a'))
  })
})
