import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { drainSpool } from '../../../../functions/daemon/spool/index.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { lostRequest, type Mishap, startServer } from '../../../shared/client/kit.ts'
import { archived, archiveOf, HERE, RUN } from '../kit.ts'
import { drain, spoolIn } from './kit.ts'

describe('draining a spool', () => {
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
})
