import { fork } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { drainSpool, openSpool, type Spool, SpoolDamaged } from '../../../functions/daemon/spool/index.ts'
import { RunLog } from '../../../functions/daemon/spool/run-log.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import {
  lostAnswer,
  lostRequest,
  type Mishap,
  refused,
  type Server,
  startServer,
} from '../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, HERE, RUN, THERE } from './kit.ts'

const spoolIn = (folder: string, more = {}) => openSpool({ folder, fsync: 'never', ...more })

const drain = async (server: Server, spool: Spool, more = {}) =>
  drainSpool(spool, {
    client: server.client,
    worker: HERE,
    capabilities: await server.client.capabilities(),
    sleep: async () => undefined,
    ...more,
  })

const bytesOf = async (records: AsyncIterable<{ readonly bytes: Uint8Array }>) => {
  const pieces: Uint8Array[] = []
  for await (const { bytes } of records) pieces.push(bytes)
  return Buffer.concat(pieces)
}

/** Everything that waits of a run, as one piece of its archive. */
const waiting = (spool: Spool, run = RUN) => bytesOf(spool.records(run))

/** The only segment of the only run in a folder. */
const segmentIn = (folder: string) => {
  const [run = ''] = readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? [each.name] : [],
  )
  return join(folder, run, readdirSync(join(folder, run))[0] ?? '')
}

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

  it('gives back every acknowledged append after its writing was cut at any byte, and goes on behind them', async () => {
    const texts = fc.array(fc.string({ maxLength: 12 }), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(texts, async (all) => {
        const folder = temporaryFolder()
        const sizes: number[] = []
        {
          using spool = await spoolIn(folder)
          for (const [i, text] of all.entries()) {
            const bytes = i === 0 ? archiveOf(text) : frameOf(text)
            await spool.append({ run_id: RUN, offset: spool.end(RUN) ?? 0, bytes })
            sizes.push(spool.size)
          }
        }
        const whole = readFileSync(segmentIn(folder))
        const other = temporaryFolder()
        for (let cut = 0; cut <= whole.length; cut++) {
          writeFileSync(join(other, '0000000000000000.spool'), whole.subarray(0, cut))
          const acked = sizes.filter((size) => size <= cut).length
          const kept = acked === 0 ? Buffer.alloc(0) : archiveOf(...all.slice(0, acked))
          const log = await RunLog.open(other, false)
          expect(await bytesOf(log.all()), `cut at ${cut}`).toEqual(kept)
          const next = acked === 0 ? archiveOf('next') : frameOf('next')
          await log.append(log.end ?? 0, { epoch: 0, bytes: next })
          expect(await bytesOf(log.all())).toEqual(Buffer.concat([kept, next]))
        }
      }),
      { numRuns: 10 },
    )
  })

  it('loses nothing it acknowledged when its process is killed', async () => {
    const folder = temporaryFolder()
    for (let kill = 0; kill < 2; kill++) {
      const child = fork(new URL('./spool-writer.ts', import.meta.url), [folder], { silent: true })
      let acked = 0
      let count = 0
      await new Promise<void>((resolve) => {
        child.on('message', (end) => {
          acked = Number(end)
          if (++count === 30) child.kill('SIGKILL')
        })
        child.once('exit', () => resolve())
      })
      using spool = await spoolIn(folder)
      expect(count).toBeGreaterThanOrEqual(30)
      expect(spool.end(RUN)).toBeGreaterThanOrEqual(acked)
      expect((await waiting(spool)).length).toBe(spool.end(RUN))
    }
  }, 30_000)
})

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

describe('draining a spool', () => {
  it('brings every run to the server and frees its room', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    await spool.append({ run_id: 'one', offset: 0, bytes: archiveOf('a') })
    await spool.append({ run_id: 'two', offset: 0, bytes: archiveOf('b') })
    await spool.append({ run_id: 'one', offset: archiveOf('a').length, bytes: frameOf('c') })
    expect((await drain(server, spool)).size).toBe(0)
    expect(await archived(server, 'one')).toEqual(archiveOf('a', 'c'))
    expect(await archived(server, 'two')).toEqual(archiveOf('b'))
    expect([spool.size, spool.runs()]).toEqual([0, []])
  })

  it('stores each byte once however often it is begun again and whatever is lost', async () => {
    const mishap = fc.constantFrom<Mishap | undefined>(
      undefined,
      lostAnswer,
      lostRequest,
      refused(503, 'unavailable'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.string({ maxLength: 30 }), { minLength: 1, maxLength: 4 }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.array(mishap, { maxLength: 12 }),
        async (sessions, mishaps) => {
          const server = await startServer()
          const folder = temporaryFolder()
          const all: string[] = []
          let offset = 0
          for (const texts of sessions) {
            // Each session begins with a copy of the spool as it was: its draining is forgotten, as by a power cut.
            using spool = await spoolIn(folder)
            for (const text of texts) {
              const bytes = offset === 0 ? archiveOf(text) : frameOf(text)
              offset = await spool.append({ run_id: RUN, offset, bytes })
              all.push(text)
            }
            for (const one of mishaps.splice(0, 3)) server.mishaps.push(one ?? ((_, answer) => answer()))
            const stop = new AbortController()
            await drain(server, spool, { signal: stop.signal, onAck: () => stop.abort() }).catch(
              () => undefined,
            )
          }
          server.mishaps.length = 0
          using spool = await spoolIn(folder)
          await drain(server, spool)
          expect(await archived(server)).toEqual(archiveOf(...all))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('stops only the run that another owner has, keeps what waits of it, and says why', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    const { epoch } = await server.client.acquire(RUN, HERE)
    await server.client.acquire(RUN, { ...THERE, force: true })
    await spool.append({ run_id: RUN, offset: 0, epoch, bytes: archiveOf('a') })
    await spool.append({ run_id: 'free', offset: 0, bytes: archiveOf('b') })
    const stopped = await drain(server, spool)
    expect(stopped.get(RUN)).toMatchObject({ code: 'fenced', facts: { lease: { machine_id: 'there' } } })
    expect(await waiting(spool)).toEqual(archiveOf('a'))
    expect(await archived(server, 'free')).toEqual(archiveOf('b'))
    await spool.discard(RUN)
    expect(spool.runs()).toEqual([])
  })

  it('waits out an outage, however long', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })
    const outages: unknown[] = []
    // What the server can do is asked for before it goes away.
    server.mishaps.push((_, answer) => answer(), ...Array.from({ length: 20 }, () => lostRequest))
    await drain(server, spool, {
      onOutage: (error: unknown) => outages.push(error),
    })
    expect(outages.length).toBeGreaterThan(1)
    expect(await archived(server)).toEqual(archiveOf('a'))
  })

  it('begins without network, and asks what the server can do when it is there', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    await spool.append({ run_id: RUN, offset: 0, epoch: 1, bytes: archiveOf('a') })
    await server.client.acquire(RUN, HERE)
    server.mishaps.push(...Array.from({ length: 10 }, () => lostRequest))
    const options = { client: server.client, worker: HERE, sleep: async () => undefined }
    expect((await drainSpool(spool, options)).size).toBe(0)
    expect(await archived(server)).toEqual(archiveOf('a'))
  })

  it('waits out a page that a hotel or a gateway answers in place of the server', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    await spool.append({ run_id: RUN, offset: 0, bytes: archiveOf('a') })
    const page = (status: number) => async () => new Response('<h1>log in</h1>', { status })
    const half: Mishap = async (_, answer) => {
      const text = await (await answer()).text()
      return new Response(text.slice(0, text.length / 2))
    }
    server.mishaps.push((_, answer) => answer(), page(200), page(403), page(500), half)
    expect((await drain(server, spool)).size).toBe(0)
    expect(await archived(server)).toEqual(archiveOf('a'))
  })

  it('serves the others first after runs that could not be served', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    const broken = ['a', 'b', 'c', 'd', 'e']
    for (const run_id of [...broken, 'z']) await spool.append({ run_id, offset: 0, bytes: archiveOf(run_id) })
    const stop = new AbortController()
    let rounds = 0
    const client = {
      ...server.client,
      append: (run: string, batch: Parameters<typeof server.client.append>[1]) =>
        broken.includes(run)
          ? Promise.reject(new RunfoldError('internal', 'only this run'))
          : server.client.append(run, batch),
    }
    const sleep = async () => {
      if (++rounds === 2) stop.abort(new Error('enough'))
    }
    await expect(drain({ ...server, client }, spool, { signal: stop.signal, sleep })).rejects.toThrow(
      'enough',
    )
    expect(await archived(server, 'z')).toEqual(archiveOf('z'))
  })

  it('goes on with a run that was stopped and discarded, from wherever it begins anew', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    const stop = new AbortController()
    const events: string[] = []
    let told: () => void = () => undefined
    const next = () =>
      new Promise<void>((resolve) => {
        told = resolve
      })
    const tell = (event: string) => {
      events.push(event)
      told()
    }
    const draining = drain(server, spool, {
      follow: true,
      signal: stop.signal,
      onAck: ({ tail }: { tail: number }) => tail > 0 && tell(`sent to ${tail}`),
      onStop: (_: string, error: { code: string }) => tell(error.code),
    })
    const { epoch } = await server.client.acquire(RUN, HERE)
    const sent = next()
    await spool.append({ run_id: RUN, offset: 0, epoch, bytes: archiveOf('a', 'b') })
    await sent
    await server.client.acquire(RUN, { ...THERE, force: true })
    const stopped = next()
    await spool.append({ run_id: RUN, offset: archiveOf('a', 'b').length, epoch, bytes: frameOf('lost') })
    await stopped
    await spool.discard(RUN)
    // The run is deleted and made anew, so that it begins before what had been sent of it.
    await server.client.remove(RUN, true)
    const again = await server.client.acquire(RUN, HERE)
    const resent = next()
    await spool.append({
      run_id: RUN,
      offset: 0,
      epoch: again.epoch,
      bytes: archiveOf('anew', 'and longer than before'),
    })
    await resent
    stop.abort(new Error('enough'))
    await expect(draining).rejects.toThrow('enough')
    expect(events).toEqual([
      `sent to ${archiveOf('a', 'b').length}`,
      'fenced',
      `sent to ${archiveOf('anew', 'and longer than before').length}`,
    ])
    expect(await archived(server)).toEqual(archiveOf('anew', 'and longer than before'))
  })

  it('removes nothing that was appended behind a discarding while it was sending', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    const { epoch } = await server.client.acquire(RUN, HERE)
    await spool.append({ run_id: RUN, offset: 0, epoch, bytes: archiveOf('a', 'b') })
    const discardThen: Mishap = async (_, answer) => {
      await spool.discard(RUN)
      await spool.append({ run_id: RUN, offset: 0, epoch, bytes: archiveOf('a') })
      return answer()
    }
    server.mishaps.push((_, answer) => answer(), discardThen)
    expect((await drain(server, spool)).size).toBe(0)
    expect(await archived(server)).toEqual(archiveOf('a', 'b'))
    // Sent again, since nobody could know that it is there.
    expect(server.requests.filter((request) => request.includes('/frames'))).toHaveLength(2)
  })

  it('goes on with what comes later, until it is told to end', async () => {
    const server = await startServer()
    using spool = await spoolIn(temporaryFolder())
    const stop = new AbortController()
    let acked: (tail: number) => void = () => undefined
    const next = () =>
      new Promise<number>((resolve) => {
        acked = resolve
      })
    const draining = drain(server, spool, {
      follow: true,
      signal: stop.signal,
      onAck: ({ tail }: { tail: number }) => acked(tail),
    })
    for (const [i, text] of ['a', 'b', 'c'].entries()) {
      const acknowledged = next()
      const offset = i === 0 ? 0 : archiveOf(...['a', 'b', 'c'].slice(0, i)).length
      await spool.append({ run_id: RUN, offset, bytes: i === 0 ? archiveOf(text) : frameOf(text) })
      await acknowledged
    }
    stop.abort(new Error('enough'))
    await expect(draining).rejects.toThrow('enough')
    expect(await archived(server)).toEqual(archiveOf('a', 'b', 'c'))
  })
})
