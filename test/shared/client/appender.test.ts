import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AppenderOptions, openAppender } from '#client'
import { encodeFrame, PREAMBLE } from '#codec'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import { steppedClock } from '../../kit/stepped-clock.ts'
import { lostAnswer, lostRequest, type Mishap, refused, type Server, startServer } from './kit.ts'

const RUN = 'r'
const WORKER = { machine_id: 'm', world_id: 'w' }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const frameOf = (length: number, i = 0) => encodeFrame(Buffer.from(`"${String(i).padEnd(length, '.')}"`))
const archiveOf = (...frames: readonly Uint8Array[]) => Buffer.concat([PREAMBLE, ...frames])

const appenderOn = async (
  server: Server,
  options: Partial<AppenderOptions> = {},
  limits = LOCAL_LIMITS as AppenderOptions['capabilities']['limits'],
) => {
  const clock = steppedClock(0)
  const lease = await server.client.acquire(RUN, WORKER)
  const capabilities = { limits, features: [] }
  const appender = openAppender({
    client: server.client,
    run: RUN,
    lease,
    capabilities,
    timing: clock,
    ...options,
  })
  return { appender, clock, lease }
}

const appendsTo = ({ requests }: Server) => requests.filter((request) => request.includes('/frames'))

const stored = async ({ client }: Server) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await client.archive(RUN)).chunks) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('appending as the owner of a run', () => {
  it('puts the preamble before the first frames, whether they bring one or not', async () => {
    for (const first of [frameOf(9), archiveOf(frameOf(9))]) {
      const server = await startServer()
      const { appender } = await appenderOn(server)
      await appender.write(first)
      await appender.write(frameOf(5))
      await appender.close()
      expect(await stored(server)).toEqual(archiveOf(frameOf(9), frameOf(5)))
    }
  })

  it('sends what is written within the linger as one batch', async () => {
    const server = await startServer()
    const { appender, clock } = await appenderOn(server, { lingerMs: 20 })
    await appender.write(frameOf(5))
    await clock.advance(15)
    await appender.write(frameOf(6))
    expect(appendsTo(server)).toHaveLength(0)
    await clock.advance(5)
    expect(appendsTo(server)).toHaveLength(1)
    await appender.close()
    expect(await stored(server)).toEqual(archiveOf(frameOf(5), frameOf(6)))
  })

  it('does not linger once a batch is full, by bytes or by writes', async () => {
    for (const full of [{ batchBytes: 50 }, { batchWrites: 2 }]) {
      const server = await startServer()
      const { appender, clock } = await appenderOn(server, { lingerMs: 1e6, ...full })
      await appender.write(frameOf(30))
      await appender.write(frameOf(30))
      await clock.advance(0)
      expect(appender.tail).toBe(appender.end)
      await appender.close()
    }
  })

  it('lets a writer wait while too much is in memory, and go on when it is acknowledged', async () => {
    const server = await startServer()
    let answerNow: () => void = () => undefined
    const slowly: Mishap = async (_, answer) => {
      await new Promise<void>((resolve) => {
        answerNow = resolve
      })
      return answer()
    }
    const { appender, clock } = await appenderOn(server, { bufferBytes: 100, batchBytes: 50, lingerMs: 0 })
    server.mishaps.push(slowly)
    await appender.write(frameOf(60))
    let isThrough = false
    const writing = appender.write(frameOf(60)).then(() => {
      isThrough = true
    })
    await clock.advance(0)
    expect(isThrough).toBe(false)
    answerNow()
    await writing
    expect(isThrough).toBe(true)
    await appender.close()
  })

  it('takes nothing of what is not whole', async () => {
    const server = await startServer()
    const { appender } = await appenderOn(server)
    await expect(appender.write(frameOf(9).subarray(0, -1))).rejects.toMatchObject({ code: 'bad_frames' })
    await appender.write(frameOf(9))
    await appender.close()
    expect(await stored(server)).toEqual(archiveOf(frameOf(9)))
  })

  it('renews the lease while nothing is written', async () => {
    const server = await startServer()
    const { appender, clock } = await appenderOn(server)
    await clock.advance(95_000)
    expect(server.requests.filter((request) => request.startsWith('PUT'))).toHaveLength(3)
    await appender.close()
  })

  it('splits to the limit of the server', async () => {
    const server = await startServer(300)
    const limits = { ...LOCAL_LIMITS, max_batch_bytes: 300 }
    const { appender } = await appenderOn(server, {}, limits)
    const frames = Array.from({ length: 20 }, (_, i) => frameOf(90, i))
    for (const frame of frames) await appender.write(frame)
    await appender.close()
    expect(await stored(server)).toEqual(archiveOf(...frames))
  })
})

describe('what goes wrong under an appender', () => {
  it('lets no write and no closing wait for a renewal that is never answered', async () => {
    const server = await startServer()
    const { appender, clock } = await appenderOn(server)
    server.mishaps.push(() => new Promise(() => undefined))
    await clock.advance(31_000)
    expect(server.requests.at(-1)).toMatch(/^PUT/)
    await appender.write(frameOf(9))
    await appender.flush()
    expect(await stored(server)).toEqual(archiveOf(frameOf(9)))
    server.mishaps.push(() => new Promise(() => undefined))
    await clock.advance(31_000)
    await appender.close()
  })

  it('lets no write wait for a renewal that has become due while the machine slept', async () => {
    const server = await startServer()
    let slept = 0
    const clock = steppedClock(0)
    const timing = { ...clock, now: () => clock.now() + slept }
    const { appender } = await appenderOn(server, { timing })
    await clock.advance(1000)
    slept = 3_600_000
    server.mishaps.push((_, answer) =>
      server.requests.at(-1)?.startsWith('PUT') ? new Promise(() => undefined) : answer(),
    )
    await appender.write(frameOf(9))
    await appender.flush()
    expect(await stored(server)).toEqual(archiveOf(frameOf(9)))
    await appender.close()
  })

  it('waits for a server that is away for long, and tells of it', async () => {
    const server = await startServer()
    const outages: unknown[] = []
    const { appender, clock } = await appenderOn(server, { onOutage: (error) => outages.push(error) })
    server.mishaps.push(...Array.from({ length: 14 }, () => lostRequest))
    await appender.write(frameOf(9))
    const closing = appender.close()
    while (appender.tail < appender.end) await clock.advance(1000)
    await closing
    expect(outages).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }])
    expect(await stored(server)).toEqual(archiveOf(frameOf(9)))
  })

  it.each([
    ['a hotel’s page', async () => new Response('<h1>log in</h1>')],
    ['a gateway’s 500', async () => new Response('<h1>oops</h1>', { status: 500 })],
    ['a proxy’s 403', async () => new Response('<h1>blocked</h1>', { status: 403 })],
    ['half an answer', async (_, answer) => new Response((await (await answer()).text()).slice(0, 40))],
    ['an answer of another shape', async (_, answer) => Response.json({ ok: (await answer()).ok })],
  ] satisfies [string, Mishap][])('takes %s for an outage', async (_, mishap) => {
    const server = await startServer()
    const outages: unknown[] = []
    const { appender, clock } = await appenderOn(server, { onOutage: (error) => outages.push(error) })
    server.mishaps.push(mishap)
    await appender.write(frameOf(9))
    const closing = appender.close()
    while (appender.tail < appender.end) await clock.advance(1000)
    await closing
    expect(outages).toMatchObject([{ code: 'internal', facts: { foreign: true } }])
    expect(await stored(server)).toEqual(archiveOf(frameOf(9)))
  })

  it('stops at another owner with the facts, and says the same to every later call', async () => {
    const server = await startServer()
    const { appender, lease } = await appenderOn(server)
    const taken = await server.client.acquire(RUN, { machine_id: 'other', world_id: 'w', force: true })
    await appender.write(frameOf(9))
    const facts = { epoch: taken.epoch, tail: 0, lease: { machine_id: 'other' } }
    await expect(appender.flush()).rejects.toMatchObject({ code: 'fenced', facts })
    await expect(appender.write(frameOf(9))).rejects.toMatchObject({ code: 'fenced' })
    await expect(appender.close()).rejects.toMatchObject({ code: 'fenced' })
    expect(taken.epoch).toBeGreaterThan(lease.epoch)
  })

  it('stops at other bytes in its place', async () => {
    const server = await startServer()
    const { appender, lease } = await appenderOn(server)
    await server.client.append(RUN, { offset: 0, epoch: lease.epoch, bytes: archiveOf(frameOf(8)) })
    await appender.write(frameOf(9))
    await expect(appender.flush()).rejects.toMatchObject({ code: 'offset_conflict' })
  })

  it('goes back behind what it holds where earlier bytes can be had again', async () => {
    const server = await startServer()
    const whole = archiveOf(frameOf(9, 1), frameOf(9, 2), frameOf(9, 3))
    const tail = archiveOf(frameOf(9, 1), frameOf(9, 2)).length
    const lease = await server.client.acquire(RUN, WORKER)
    await server.client.append(RUN, {
      offset: 0,
      epoch: lease.epoch,
      bytes: archiveOf(frameOf(9, 1)),
    })
    const earlier = {
      read: async (start: number, end: number) => whole.subarray(start, end),
      digest: async (end: number) => sha256(whole.subarray(0, end)),
    }
    const { appender } = await appenderOn(server, { lease: { ...lease, tail }, earlier })
    await appender.write(frameOf(9, 3))
    await appender.close()
    expect(await stored(server)).toEqual(whole)
  })

  it('says so where they cannot', async () => {
    const server = await startServer()
    const lease = await server.client.acquire(RUN, WORKER)
    const { appender } = await appenderOn(server, { lease: { ...lease, tail: 100 } })
    await appender.write(frameOf(9))
    await expect(appender.flush()).rejects.toMatchObject({ code: 'gap', facts: { tail: 0 } })
  })

  it('ends at once when it is told to', async () => {
    const server = await startServer()
    const stop = new AbortController()
    const { appender } = await appenderOn(server, { signal: stop.signal, lingerMs: 1e6 })
    await appender.write(frameOf(9))
    const flushing = appender.flush()
    stop.abort(new Error('enough'))
    await expect(flushing).rejects.toThrow('enough')
    await expect(appender.close()).rejects.toThrow('enough')
  })

  it('keeps every byte once and in order whatever is lost', async () => {
    const mishap = fc.constantFrom<Mishap | undefined>(
      undefined,
      lostAnswer,
      lostRequest,
      refused(503, 'unavailable'),
      refused(503, 'slow_down'),
    )
    const lengths = fc.array(fc.integer({ min: 4, max: 400 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(lengths, fc.array(mishap, { maxLength: 6 }), fc.nat(3), async (all, mishaps, each) => {
        const server = await startServer(700)
        const limits = { ...LOCAL_LIMITS, max_batch_bytes: 700 }
        const options = { lingerMs: 0, bufferBytes: 500, batchBytes: 300 }
        const { appender } = await appenderOn(server, options, limits)
        for (const one of mishaps) server.mishaps.push(one ?? ((_, answer) => answer()))
        const frames = all.map((length, i) => frameOf(length, i))
        for (const [i, frame] of frames.entries()) {
          await appender.write(frame)
          if (i % (each + 1) === each) await appender.flush()
        }
        await appender.close()
        server.mishaps.length = 0
        expect(await stored(server)).toEqual(archiveOf(...frames))
      }),
      { numRuns: 60 },
    )
  })
})
