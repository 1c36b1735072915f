import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AppendSource, sendArchive } from '#client'
import { encodeFrame, PREAMBLE } from '#codec'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import { lostAnswer, lostRequest, type Mishap, refused, type Server, startServer } from './kit.ts'

const RUN = 'r'
const WORKER = { machine_id: 'm', world_id: 'w' }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const archiveOf = (...lengths: number[]) =>
  Buffer.concat([
    PREAMBLE,
    ...lengths.map((length, i) => encodeFrame(Buffer.from(`"${String(i).padEnd(length, '.')}"`))),
  ])

const sourceOf = (bytes: Uint8Array, end = bytes.length): AppendSource => ({
  end,
  read: async (start, stop) => bytes.subarray(start, stop),
  digest: async (stop) => sha256(bytes.subarray(0, stop)),
})

const send = async (
  server: Server,
  bytes: Uint8Array,
  from = 0,
  maxBatchBytes = LOCAL_LIMITS.max_batch_bytes,
) => {
  const { epoch } = await server.client.acquire(RUN, WORKER)
  const limits = { ...LOCAL_LIMITS, max_batch_bytes: maxBatchBytes }
  return sendArchive(server.client, { run: RUN, epoch, tail: from, source: sourceOf(bytes), limits })
}

const stored = async ({ client }: Server) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await client.archive(RUN)).chunks) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('sending an archive', () => {
  it('stores the very bytes, and gives the answer to the last batch', async () => {
    const server = await startServer()
    const bytes = archiveOf(10, 20_000, 30)
    const answer = await send(server, bytes)
    expect(answer).toMatchObject({ tail: bytes.length, frames: 3, digest: sha256(bytes) })
    expect(await stored(server)).toEqual(bytes)
  })

  it('compresses what is large enough to be worth it', async () => {
    const server = await startServer()
    const encodings: (string | null)[] = []
    const note: Mishap = (request, answer) => {
      encodings.push(request.headers.get('content-encoding'))
      return answer()
    }
    const { epoch } = await server.client.acquire(RUN, WORKER)
    const bytes = archiveOf(100, 9000)
    const cut = archiveOf(100).length
    server.mishaps.push(note, note)
    await server.client.append(RUN, { offset: 0, epoch, bytes: bytes.subarray(0, cut) })
    await server.client.append(RUN, { offset: cut, epoch, bytes: bytes.subarray(cut) })
    expect(encodings).toEqual([null, 'gzip'])
    expect(await stored(server)).toEqual(bytes)
  })

  it('sends a preamble alone, and nothing at all when everything is there', async () => {
    const server = await startServer()
    expect(await send(server, archiveOf())).toMatchObject({ tail: 6, frames: 0 })
    expect(await send(server, archiveOf(), 6)).toBeUndefined()
  })

  it('splits at frame boundaries to the limit that the server tells', async () => {
    const server = await startServer(300)
    const bytes = archiveOf(...Array.from({ length: 20 }, () => 90))
    await send(server, bytes, 0, 300)
    expect(server.requests.filter((request) => request.includes('/frames'))).toHaveLength(7)
    expect(await stored(server)).toEqual(bytes)
  })

  it('says which frame is over the limit, and stores the ones before it', async () => {
    const server = await startServer(300)
    const bytes = archiveOf(90, 90, 500, 90)
    const offset = archiveOf(90, 90).length
    const facts = { offset, length: 510, max_batch_bytes: 300 }
    await expect(send(server, bytes, 0, 300)).rejects.toMatchObject({ code: 'too_large', facts })
    expect(await stored(server)).toEqual(bytes.subarray(0, offset))
  })

  it('sends smaller batches where the server, or a gateway before it, takes less than it told', async () => {
    for (const told of [300, 100_000]) {
      const server = await startServer(300)
      const bytes = archiveOf(...Array.from({ length: 20 }, () => 90))
      // What a gateway says is no problem+json.
      if (told === 300)
        server.mishaps.push(
          (_, answer) => answer(),
          async () => new Response('<h1>too large</h1>', { status: 413 }),
        )
      await send(server, bytes, 0, told)
      expect(await stored(server)).toEqual(bytes)
    }
  })

  it('ends at a frame that alone is too large for a gateway', async () => {
    const server = await startServer()
    server.mishaps.push((_, answer) => answer())
    server.mishaps.push(
      ...[1, 2, 3].map(() => async () => new Response('<h1>too large</h1>', { status: 413 })),
    )
    await expect(send(server, archiveOf(90, 90))).rejects.toMatchObject({ facts: { http_status: 413 } })
  })

  it('refuses a source that does not end with a whole frame', async () => {
    const server = await startServer()
    const failure = send(server, archiveOf(90, 90).subarray(0, -5))
    await expect(failure).rejects.toMatchObject({ code: 'bad_frames', facts: { reason: 'torn_frame' } })
  })
})

describe('what goes wrong on the way', () => {
  it('an answer that is lost costs nothing: the batch is stored once', async () => {
    const server = await startServer()
    const bytes = archiveOf(10, 10)
    const { epoch } = await server.client.acquire(RUN, WORKER)
    server.mishaps.push(lostAnswer, lostRequest)
    const limits = LOCAL_LIMITS
    const last = await sendArchive(server.client, {
      run: RUN,
      epoch,
      tail: 0,
      source: sourceOf(bytes),
      limits,
    })
    expect(last).toMatchObject({ replayed: true, frames: 2 })
    expect(await stored(server)).toEqual(bytes)
  })

  it('goes on from the server’s tail after a gap', async () => {
    const server = await startServer()
    const bytes = archiveOf(10, 20, 30)
    expect(await send(server, bytes, archiveOf(10, 20).length)).toMatchObject({ tail: bytes.length })
    expect(await stored(server)).toEqual(bytes)
  })

  it('goes on from the server’s tail after an overlap', async () => {
    const server = await startServer()
    const bytes = archiveOf(10, 20, 30)
    await send(server, bytes.subarray(0, archiveOf(10, 20).length))
    expect(await send(server, bytes, archiveOf(10).length)).toMatchObject({
      tail: bytes.length,
      replayed: false,
    })
    expect(await stored(server)).toEqual(bytes)
  })

  it('stops, without sending, when the bytes before the server’s tail are others', async () => {
    const server = await startServer()
    await send(server, archiveOf(10, 21))
    const failure = send(server, archiveOf(10, 20, 30, 40), archiveOf(10, 20, 30).length)
    await expect(failure).rejects.toMatchObject({ code: 'offset_conflict' })
    expect(await stored(server)).toEqual(archiveOf(10, 21))
  })

  it('stops at other bytes at the same offset, with the server’s facts', async () => {
    const server = await startServer()
    await send(server, archiveOf(10))
    await expect(send(server, archiveOf(11))).rejects.toMatchObject({
      code: 'offset_conflict',
      facts: { tail: archiveOf(10).length, digest: sha256(archiveOf(10)) },
    })
  })

  it('stops when another owner has taken the run', async () => {
    const server = await startServer()
    const { epoch } = await server.client.acquire(RUN, WORKER)
    const taken = await server.client.acquire(RUN, { machine_id: 'other', world_id: 'w', force: true })
    const source = sourceOf(archiveOf(10))
    const failure = sendArchive(server.client, { run: RUN, epoch, tail: 0, source, limits: LOCAL_LIMITS })
    await expect(failure).rejects.toMatchObject({ code: 'fenced', facts: { epoch: taken.epoch, tail: 0 } })
  })

  it('gives up on a server that contradicts itself instead of turning in circles', async () => {
    const server = await startServer()
    const { epoch } = await server.client.acquire(RUN, WORKER)
    const bytes = archiveOf(10)
    server.mishaps.push(
      ...Array.from({ length: 50 }, () =>
        refused(409, 'gap', { tail: 0, digest: sha256(bytes.subarray(0, 0)) }),
      ),
    )
    const failure = sendArchive(server.client, {
      run: RUN,
      epoch,
      tail: 0,
      source: sourceOf(bytes),
      limits: LOCAL_LIMITS,
    })
    await expect(failure).rejects.toMatchObject({ code: 'gap' })
  })

  it('stores every archive exactly once whatever is lost and wherever it begins', async () => {
    const mishap = fc.constantFrom<Mishap | undefined>(
      undefined,
      lostAnswer,
      lostRequest,
      refused(503, 'unavailable'),
    )
    const lengths = fc.array(fc.integer({ min: 4, max: 400 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(
        lengths,
        fc.array(mishap, { maxLength: 6 }),
        fc.nat(12),
        async (frames, mishaps, begun) => {
          const server = await startServer(700)
          const bytes = archiveOf(...frames)
          const { epoch } = await server.client.acquire(RUN, WORKER)
          for (const each of mishaps) server.mishaps.push(each ?? ((_, answer) => answer()))
          const tail = begun === 0 ? 0 : archiveOf(...frames.slice(0, begun - 1)).length
          const limits = { ...LOCAL_LIMITS, max_batch_bytes: 700 }
          await sendArchive(server.client, { run: RUN, epoch, tail, source: sourceOf(bytes), limits })
          server.mishaps.length = 0
          const { frames: count, digest } = await server.client.tail(RUN)
          if (tail < bytes.length) expect([count, digest]).toEqual([frames.length, sha256(bytes)])
        },
      ),
      { numRuns: 60 },
    )
  })
})
