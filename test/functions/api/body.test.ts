import { randomBytes } from 'node:crypto'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readBody } from '../../../functions/api/body.ts'
import { BodyBudget, LOCAL_LIMITS } from '../../../functions/api/limits.ts'

const TYPE = 'application/octet-stream'
const read = (
  body: Uint8Array | ReadableStream | null,
  headers: Record<string, string> = {},
  take = (_: number) => {},
) =>
  readBody(
    new Request('http://x/', {
      method: 'POST',
      body,
      headers: { 'content-type': TYPE, ...headers },
      duplex: 'half',
    } as RequestInit),
    {
      types: [TYPE],
      maxBytes: 1000,
      facts: { max_batch_bytes: 1000 },
      take,
    },
  )
const refused = (code: string) => expect.objectContaining({ code })
type Share = ReturnType<BodyBudget['share']>
const bytes = (n: number) => new Uint8Array(n).fill(7)

describe('a body', () => {
  it.each([0, 1, 999, 1000])('of %i bytes is taken as it is', async (n) => {
    expect(await read(bytes(n))).toEqual(bytes(n))
  })

  it('over the limit is refused by its announced length, before a byte is read', async () => {
    const never = new ReadableStream({ pull: () => new Promise(() => {}) })
    await expect(read(never, { 'content-length': '1001' })).rejects.toThrow(refused('too_large'))
  })

  it('over the limit is refused as it comes when no length was announced', async () => {
    let given = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        given += 300
        controller.enqueue(bytes(300))
      },
    })
    await expect(read(endless)).rejects.toThrow(refused('too_large'))
    expect(given).toBeLessThan(3000)
  })

  it('that breaks off is an error, never a shorter body', async () => {
    const broken = new ReadableStream({
      start: (controller) => {
        controller.enqueue(bytes(10))
        controller.error(new Error('connection reset'))
      },
    })
    await expect(read(broken)).rejects.toThrow(refused('bad_request'))
  })

  it.each(['application/json', 'text/plain', '', 'application/octet-streams'])(
    'of type %j is refused with what is taken',
    async (type) => {
      await expect(read(bytes(1), { 'content-type': type })).rejects.toThrow(
        expect.objectContaining({ code: 'unsupported_media_type', facts: { accepted: [TYPE] } }),
      )
    },
  )

  it('may give its type in any case and with parameters', async () => {
    expect(await read(bytes(1), { 'content-type': 'Application/Octet-Stream; x=y' })).toEqual(bytes(1))
  })
})

describe.each([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
] as const)('a body in %s', (coding, squeeze) => {
  const send = (body: Uint8Array) => read(body, { 'content-encoding': coding })

  it('is inflated', async () => {
    expect(await send(squeeze(bytes(1000)))).toEqual(bytes(1000))
    expect(await send(squeeze(bytes(0)))).toHaveLength(0)
  })

  it('may come in several members, and none of them is lost', async () => {
    const [a, b] = [squeeze(bytes(400)), squeeze(bytes(500))]
    expect(await send(Buffer.concat([a, b]))).toHaveLength(900)
  })

  it('counts decoded bytes, over all members', async () => {
    await expect(send(squeeze(bytes(1001)))).rejects.toThrow(refused('too_large'))
    await expect(send(Buffer.concat([squeeze(bytes(600)), squeeze(bytes(600))]))).rejects.toThrow(
      refused('too_large'),
    )
  })

  it('that is longer than what it says is taken up to the limit of that', async () => {
    const noise = new Uint8Array(randomBytes(1000))
    const coded = squeeze(noise)
    expect(coded.length).toBeGreaterThan(1000)
    const headers = { 'content-encoding': coding, 'content-length': String(coded.length) }
    expect(await read(coded, headers)).toEqual(noise)
    await expect(send(squeeze(randomBytes(1001)))).rejects.toThrow(refused('too_large'))
  })

  it('is held to no more bytes than a coding can need, before one is decoded', async () => {
    const empty = squeeze(bytes(0))
    const many = Buffer.concat(Array.from({ length: 300 }, () => empty))
    await expect(send(many)).rejects.toThrow(refused('too_large'))
  })

  it('as a bomb is refused', async () => {
    await expect(send(squeeze(Buffer.alloc(600_000)))).rejects.toThrow(refused('too_large'))
  })

  it('cut short, spoiled or with bytes behind it is refused', async () => {
    const whole = squeeze(bytes(500))
    const spoiled = Uint8Array.from(whole)
    spoiled[0] = 0
    for (const bad of [
      whole.subarray(0, -1),
      whole.subarray(0, 5),
      new Uint8Array(0),
      spoiled,
      Buffer.concat([whole, Buffer.from('rest')]),
    ]) {
      await expect(send(bad)).rejects.toThrow(refused('bad_request'))
    }
  })
})

describe('other codings', () => {
  it.each(['br', 'deflate', 'gzip, gzip', 'x'])('%s is refused with what is taken', async (coding) => {
    await expect(read(bytes(1), { 'content-encoding': coding })).rejects.toThrow(
      expect.objectContaining({ code: 'unsupported_media_type', facts: { accepted: ['gzip', 'zstd'] } }),
    )
  })

  it('identity is none', async () => {
    expect(await read(bytes(3), { 'content-encoding': 'identity' })).toEqual(bytes(3))
  })
})

describe('a body that comes slowly', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  const dripping = () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, {
      highWaterMark: 99,
    })
    return { readable, writer: writable.getWriter() }
  }

  it('is taken however long it takes as a whole', async () => {
    const { readable, writer } = dripping()
    const taken = read(readable)
    for (let n = 0; n < 100; n++) {
      await writer.write(bytes(1))
      await vi.advanceTimersByTimeAsync(29_000)
    }
    await writer.close()
    expect(await taken).toEqual(bytes(100))
  })

  it('is refused with slow_down, and let go, once it has stood still for half a minute', async () => {
    const { readable, writer } = dripping()
    let held = 0
    const taken = read(readable, {}, (more) => {
      held += more
    })
    const seen = expect(taken).rejects.toThrow(refused('slow_down'))
    await vi.advanceTimersByTimeAsync(600_000)
    expect(held).toBe(0)
    await writer.write(bytes(1))
    await vi.advanceTimersByTimeAsync(30_000)
    await seen
    await expect(writer.closed).rejects.toBe(undefined)
  })

  it('leaves no timer behind', async () => {
    await read(bytes(1000))
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the budget of all bodies', () => {
  const whole = 8 * LOCAL_LIMITS.max_batch_bytes

  it('refuses what passes it with slow_down, and gets back what a request gives up', () => {
    const budget = new BodyBudget(LOCAL_LIMITS)
    const [one, two, other] = ['a', 'b', 'c'].map((token) => budget.share(token)) as [Share, Share, Share]
    one.take(whole / 2)
    two.take(whole / 2)
    expect(() => other.take(1)).toThrow(refused('slow_down'))
    one.release()
    other.take(whole / 2)
    other.release()
    one.release()
    two.release()
    expect(() => budget.share('a').take(whole / 2)).not.toThrow()
  })

  it('is not for the many or slow bodies of one token alone', () => {
    const budget = new BodyBudget(LOCAL_LIMITS)
    for (let n = 0; n < 4; n++) budget.share('slow').take(LOCAL_LIMITS.max_batch_bytes)
    expect(() => budget.share('slow').take(1)).toThrow(refused('slow_down'))
    expect(() => budget.share('other').take(LOCAL_LIMITS.max_batch_bytes)).not.toThrow()
  })
})
