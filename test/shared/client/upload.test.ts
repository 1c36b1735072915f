import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AppendSource, createClient, Redacted, sendArchive } from '#client'
import { encodeFrame, PREAMBLE } from '#codec'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import {
  lostAnswer,
  lostRequest,
  type Mishap,
  refused,
  type Server,
  startServer,
  URL_OF_SERVER,
} from './kit.ts'

const RUN = 'r'
const WORKER = { machine_id: 'm', world_id: 'w' }
const MAX_BATCH_BYTES = 100_000
const MIB = 1 << 20
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const limits = { ...LOCAL_LIMITS, max_batch_bytes: MAX_BATCH_BYTES }

const archiveOf = (...lengths: number[]) =>
  Buffer.concat([
    PREAMBLE,
    ...lengths.map((length, i) => encodeFrame(Buffer.from(`"${String(i).padEnd(length, '.')}"`))),
  ])

const sourceOf = (bytes: Uint8Array): AppendSource => ({
  end: bytes.length,
  read: async (start, stop) => bytes.subarray(start, stop),
  digest: async (stop) => sha256(bytes.subarray(0, stop)),
})

const start = (maxBatchBytes = MAX_BATCH_BYTES) => startServer(maxBatchBytes, ['uploads'])

const send = async (server: Server, bytes: Uint8Array, more: object = {}) => {
  const { epoch } = await server.client.acquire(RUN, WORKER)
  const what = { run: RUN, epoch, tail: 0, source: sourceOf(bytes), limits, uploads: true }
  return sendArchive(server.client, { ...what, ...more })
}

const digestOn = async ({ client }: Server) => (await client.tail(RUN)).digest
const asked = (server: Server, what: RegExp) => server.requests.filter((request) => what.test(request)).length

describe('a frame over the batch limit', () => {
  it('goes in parts between batches, and the token stays out of their URLs', async () => {
    const server = await start()
    const bytes = archiveOf(10, 200_000, 20, 300_000, 30)
    const tokens: (string | null)[] = []
    const client = createClient({
      url: URL_OF_SERVER,
      token: new Redacted(server.token),
      fetch: async (input, init) => {
        if (String(input).includes('/v1/parts/')) tokens.push(new Headers(init?.headers).get('authorization'))
        return server.fetch(input, init)
      },
    })
    const answer = await send({ ...server, client }, bytes)
    expect(answer).toMatchObject({ tail: bytes.length, frames: 5, digest: sha256(bytes) })
    expect(asked(server, /\/frames/)).toBe(3)
    expect(asked(server, /\/complete/)).toBe(2)
    expect(tokens).toEqual([null, null])
  })

  it('may be the very first, with the preamble', async () => {
    const server = await start()
    const bytes = archiveOf(200_000)
    expect(await send(server, bytes)).toMatchObject({ tail: bytes.length, frames: 1 })
  })

  it('of many parts arrives in order, and its progress is told', async () => {
    const server = await start(LOCAL_LIMITS.max_batch_bytes)
    const bytes = archiveOf(10, 17 * MIB)
    const told: number[] = []
    await send(server, bytes, { limits: LOCAL_LIMITS, onSent: (position: number) => told.push(position) })
    expect(await digestOn(server)).toBe(sha256(bytes))
    expect(told).toHaveLength(4)
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(told.at(-1)).toBe(bytes.length)
  })

  it('over the frame limit is refused before anything of it is sent', async () => {
    const server = await start()
    const bytes = archiveOf(10, 200_000)
    const failure = send(server, bytes, { limits: { ...limits, max_frame_bytes: 150_000 } })
    await expect(failure).rejects.toMatchObject({
      code: 'too_large',
      facts: { offset: archiveOf(10).length },
    })
    expect(asked(server, /uploads/)).toBe(0)
  })

  it('is given up when the run was taken over meanwhile', async () => {
    const server = await start()
    const bytes = archiveOf(200_000)
    const takeOver: Mishap = async (_, answer) => {
      await server.client.acquire(RUN, { machine_id: 'other', world_id: 'w', force: true })
      return answer()
    }
    const { epoch } = await server.client.acquire(RUN, WORKER)
    const asIs: Mishap = (_, answer) => answer()
    server.mishaps.push(asIs, takeOver)
    const what = { run: RUN, epoch, tail: 0, source: sourceOf(bytes), limits, uploads: true }
    await expect(sendArchive(server.client, what)).rejects.toMatchObject({ code: 'fenced' })
    expect(asked(server, /^DELETE .*uploads/)).toBe(1)
    expect((await server.client.tail(RUN)).tail).toBe(0)
  })

  it('whose URL the storage refuses fails with what was answered', async () => {
    const server = await start()
    const storage: Mishap = async () =>
      new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 })
    const asIs: Mishap = (_, answer) => answer()
    server.mishaps.push(asIs, asIs, storage)
    const failure = send(server, archiveOf(200_000))
    await expect(failure).rejects.toMatchObject({ facts: { http_status: 403 } })
  })

  it('is stored exactly once whatever is lost on the way', async () => {
    const busy: Mishap = async () => new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 })
    const broken: Mishap = async () =>
      new Response('<Error><Code>InternalError</Code></Error>', { status: 500 })
    const asIs: Mishap = (_, answer) => answer()
    const problem = refused(503, 'unavailable')
    // The first request takes the lease; an answer of the storage can only come for a part.
    const toParts =
      (mishap: Mishap): Mishap =>
      (request, answer) =>
        request.method === 'PUT' && request.url.includes('/parts/') ? mishap(request, answer) : answer()
    const mishap = fc.constantFrom(asIs, lostAnswer, lostRequest, problem, toParts(busy), toParts(broken))
    const lengths = fc.array(fc.constantFrom(5, 500, 120_000, 250_000), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(lengths, fc.array(mishap, { maxLength: 6 }), async (list, mishaps) => {
        const server = await start()
        const bytes = archiveOf(...list)
        server.mishaps.push(asIs, ...mishaps)
        await send(server, bytes)
        server.mishaps.length = 0
        const { frames, digest } = await server.client.tail(RUN)
        expect([frames, digest]).toEqual([list.length, sha256(bytes)])
      }),
      { numRuns: 40 },
    )
  }, 30_000)
})
