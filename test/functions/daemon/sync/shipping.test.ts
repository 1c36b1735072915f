import { randomBytes } from 'node:crypto'
import { appendFileSync, utimesSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { lookAt } from '../../../../functions/daemon/sync/source-file.ts'
import { isQuiet } from '../../../../functions/daemon/sync/watch-sessions.ts'
import { lostRequest, type Mishap, refused, startServer } from '../../../shared/client/kit.ts'
import { CLAUDE, laptop, rows } from './kit.ts'

const unreadable = vi.hoisted(() => new Set<string>())

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>()
  const open: typeof real.open = async (path, ...rest) => {
    if (unreadable.has(String(path))) throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
    return real.open(path, ...rest)
  }
  return { ...real, open }
})

const MAIN = `${CLAUDE}/s1.jsonl`
const SOURCES = { 's1.jsonl': MAIN }

/** A laptop whose requests may be met on their way to the server. */
const laptopBehind = async (met: (request: Request) => Mishap | undefined) => {
  const server = await startServer(undefined, ['sessions'])
  const through: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const mishap = met(request.clone())
    return mishap ? mishap(request, () => server.fetch(input, init)) : server.fetch(input, init)
  }
  return laptop({ ...server, fetch: through })
}

/** A line of bytes that cannot be packed. */
const noise = (length: number): Buffer => {
  const bytes = randomBytes(length)
  for (let at = 0; at < length; at++) if (bytes[at] === 0x0a) bytes[at] = 0
  bytes[length - 1] = 0x0a
  return bytes
}

const tooLargeForProxy: Mishap = async () =>
  new Response('<html>413 Request Entity Too Large</html>', { status: 413 })
const broken = refused(500, 'internal')

describe('on the way to the server', () => {
  it('a proxy that takes small requests only is given smaller ones', async () => {
    const here = await laptopBehind(({ method }) => {
      if (method !== 'POST') return undefined
      return async (request, answer) =>
        (await request.arrayBuffer()).byteLength > 20_000 ? tooLargeForProxy(request, answer) : answer()
    })
    here.write(MAIN, noise(300_000))
    expect((await here.sync()).outcomes).toEqual({ s1: 'partial' })
    expect((await here.raw('claude-code', 's1', 's1.jsonl')).length).toBe(300_000)
  })

  it('what was archived before the server went away is told, and not sent again', async () => {
    let left = Number.POSITIVE_INFINITY
    const here = await laptopBehind(({ method }) =>
      method === 'POST' && --left < 0 ? lostRequest : undefined,
    )
    here.write(MAIN, rows(0, 1))
    await here.sync()
    const added = noise(10 << 20)
    appendFileSync(here.path(MAIN), added)
    left = 1
    const cut = await here.sync()
    expect(cut.sessions).toMatchObject([{ outcome: 'partial', bytes: 4 << 20 }])
    left = Number.POSITIVE_INFINITY
    const rest = await here.sync()
    expect(rest.counters.bytes_sent).toBe(added.length - (4 << 20))
    expect(rest.counters.bytes_read).toBeLessThan(4 * rest.counters.bytes_sent)
    expect((await here.sync()).counters).toEqual({ bytes_read: 0, bytes_sent: 0, requests: 0 })
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('one session that the server fails on keeps no others from it', async () => {
    const hasFailed = Promise.withResolvers<void>()
    let failures = 0
    const here = await laptopBehind(({ url, method }) => {
      if (method !== 'POST') return undefined
      if (!url.includes('/s0/')) return async (_, answer) => hasFailed.promise.then(answer)
      if (++failures > 2) hasFailed.resolve() // its first file has been given up
      return broken
    })
    for (let n = 0; n < 12; n++) here.write(`${CLAUDE}/s${n}.jsonl`, rows(0, 3, `of session ${n}`))
    here.write(`${CLAUDE}/s0/tool-results/a.txt`, 'x')
    here.write(`${CLAUDE}/s0/tool-results/b.txt`, 'x')
    here.write(`${CLAUDE}/s0/tool-results/c.txt`, 'x')
    const { outcomes } = await here.sync()
    expect(outcomes.s0).toBe('failed')
    expect(Object.values(outcomes).filter((outcome) => outcome === 'archived')).toHaveLength(11)
  })

  it('a server that fails on every session is asked by a few of them only', async () => {
    let posts = 0
    const here = await laptopBehind(({ method }) => {
      if (method !== 'POST') return undefined
      posts++
      return broken
    })
    for (let n = 0; n < 30; n++) here.write(`${CLAUDE}/s${n}.jsonl`, rows(0, 3, `of session ${n}`))
    const { sessions } = await here.sync()
    expect(sessions.every(({ outcome }) => outcome === 'failed')).toBe(true)
    expect(posts).toBeLessThan(20)
  })
})

describe('a watch', () => {
  it('that begins before its server can be reached waits for it', async () => {
    let requests = 0
    const here = await laptopBehind(() => (++requests > 2 ? undefined : lostRequest))
    here.write(MAIN, rows(0, 4))
    const away: string[] = []
    await here.watchOnce({ away: (reason) => away.push(reason) })
    expect(away).toEqual([expect.stringContaining('no answer from')])
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('that is stopped in the middle of a pass ends there, and tells of no failure', async () => {
    const stop = new AbortController()
    const here = await laptopBehind(({ method }) => {
      if (method !== 'POST') return undefined
      return async () => {
        stop.abort()
        throw stop.signal.reason
      }
    })
    for (let n = 0; n < 8; n++) here.write(`${CLAUDE}/s${n}.jsonl`, rows(0, 3))
    const told: unknown[] = []
    await here.watchOnce({ synced: (session) => told.push(session) }, stop)
    expect(told).toEqual([])
  })
})

describe('a file that cannot be read', () => {
  it('beside others that are as they were leaves its session partial, not failed', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 4))
    const packed = 'rollout-2026-11-30T09-00-00-019f4c10-7e2a-7b41-9c55-aaaaaaaaaaaa.jsonl'
    here.write(`.codex/sessions/2026/11/30/${packed}.zst`, 'no zstd at all')
    here.write(`${CLAUDE}/s1/tool-results/a.txt`, 'x')
    await here.sync()
    unreadable.add(here.path(`${CLAUDE}/s1/tool-results/a.txt`))
    appendFileSync(here.path(`${CLAUDE}/s1/tool-results/a.txt`), 'more')
    const { outcomes } = await here.sync()
    expect(outcomes).toEqual({ s1: 'partial', '019f4c10-7e2a-7b41-9c55-aaaaaaaaaaaa': 'failed' })
  })
})

describe('verify', () => {
  it('has the server read what it has, and fails where that is damaged', async () => {
    const damage = { path: 's1.jsonl', generation: 1, offset: 0, length: 7 }
    let isDamaged = false
    const asked: string[] = []
    const here = await laptopBehind(({ url, method }) => {
      if (!url.includes('/verify')) return undefined
      asked.push(`${method} ${new URL(url).pathname}`)
      return isDamaged
        ? async () =>
            Response.json({
              ok: false,
              files: 1,
              bytes: 7,
              problems: [{ ...damage, code: 'unreadable_bytes', detail: 'an object is gone' }],
              repaired: [],
            })
        : undefined
    })
    here.write(MAIN, rows(0, 4))
    await here.sync()
    expect((await here.sync({ verifies: true })).outcomes).toEqual({ s1: 'skipped' })
    expect(asked).toEqual(['POST /v1/sessions/claude-code/s1/verify'])
    isDamaged = true
    expect((await here.sync({ verifies: true })).sessions).toMatchObject([
      {
        outcome: 'failed',
        problems: ['s1.jsonl, generation 1, 7 bytes at 0: unreadable_bytes: an object is gone'],
      },
    ])
  })
})

describe('secrets', () => {
  const token = ['ghp', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('_')
  const looking = { looksForSecrets: true }

  it('are found, once, when half of them was sent before', async () => {
    const here = await laptop()
    here.write(MAIN, `${rows(0, 2)}my key is ${token} or ${token.slice(0, 20)}`)
    expect([...((await here.sync(looking)).sessions[0]?.secrets ?? [])]).toEqual([['GITHUB_TOKEN', 1]])
    appendFileSync(here.path(MAIN), `${token.slice(20)} so there\n`)
    expect([...((await here.sync(looking)).sessions[0]?.secrets ?? [])]).toEqual([['GITHUB_TOKEN', 1]])
  })

  it('hold back what must be sent again from the beginning', async () => {
    const here = await laptop()
    here.write(MAIN, rows(0, 2, `my key is ${token}`))
    await here.sync()
    await here.server.client.removeSession({ harness: 'claude-code', id: 's1', machine: 'box' })
    appendFileSync(here.path(MAIN), rows(2, 3))
    const { sessions } = await here.sync({ looksForSecrets: true, refusesSecrets: true })
    expect(sessions).toMatchObject([{ outcome: 'partial', bytes: 0 }])
  })
})

describe('an end without LF', () => {
  it('that waited until it was quiet costs what it is long', async () => {
    const here = await laptop()
    here.write(MAIN, `${rows(0, 2000)}{"open":`)
    expect((await here.watchOnce()).bytes_sent).toBe(rows(0, 2000).length)
    expect((await here.watchOnce()).bytes_read).toBe(0)
    vi.useFakeTimers({ now: Date.now() + 40_000, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { bytes_sent, bytes_read } = await here.watchOnce()
    expect(bytes_sent).toBe('{"open":'.length)
    expect(bytes_read).toBeLessThan(150_000)
    await here.expectExact('claude-code', 's1', SOURCES)
  })

  it('is quiet, too, where its time is to come since the clock was set back', async () => {
    const here = await laptop()
    here.write(MAIN, '{"open":')
    const quiet = async (seconds: number) => {
      const at = Date.now() / 1000 + seconds
      utimesSync(here.path(MAIN), at, at)
      const identity = await lookAt(here.path(MAIN))
      return identity && isQuiet(identity)
    }
    expect(await quiet(-40)).toBe(true)
    expect(await quiet(-5)).toBe(false)
    expect(await quiet(86_400)).toBe(true)
  })
})
