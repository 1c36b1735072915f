import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { lostAnswer, lostRequest, type Mishap, refused, startServer } from '../../../shared/client/kit.ts'
import { archived, archiveOf, frameOf, HERE, RUN, THERE } from '../kit.ts'
import { drain, spoolIn, waiting } from './kit.ts'

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
