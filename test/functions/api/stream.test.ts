import { describe, expect, it } from 'vitest'
import { answerLines, answerStream } from '../../../functions/api/answer.ts'
import { bodyOf } from '../../../functions/api/stream.ts'

/** A source of pieces that tells how far it was read and whether it was let go. */
function source(pieces: number, size: number, failAt = Number.POSITIVE_INFINITY) {
  const seen = { read: 0, ended: false }
  async function* generate() {
    try {
      for (let i = 0; i < pieces; i++) {
        if (i === failAt) throw new Error('an extent is gone')
        seen.read++
        yield new Uint8Array(size).fill(i)
      }
    } finally {
      seen.ended = true
    }
  }
  return { seen, chunks: generate() }
}

describe('a streamed body', () => {
  it('reads no further ahead than its reader asks', async () => {
    const { seen, chunks } = source(100, 100_000)
    const reader = bodyOf([], chunks).getReader()
    expect(seen.read).toBe(0)
    await reader.read()
    expect(seen.read).toBe(1)
    await reader.read()
    expect(seen.read).toBe(2)
  })

  it('joins small pieces', async () => {
    const { chunks } = source(1000, 100)
    const { value } = await bodyOf([], chunks).getReader().read()
    expect(value?.length).toBeGreaterThanOrEqual(64 << 10)
  })

  it('lets its source go when the reader leaves', async () => {
    const { seen, chunks } = source(100, 100_000)
    const reader = bodyOf([], chunks).getReader()
    await reader.read()
    await reader.cancel()
    expect(seen.ended).toBe(true)
  })

  it('lets its source go when the reader may not read on', async () => {
    const { seen, chunks } = source(100, 100_000)
    let isAllowed = true
    const stillAllowed = async () => {
      if (!isAllowed) throw new Error('the token was revoked')
    }
    const reader = bodyOf([], chunks, { stillAllowed }).getReader()
    await reader.read()
    isAllowed = false
    await expect(reader.read()).rejects.toThrow('the token was revoked')
    expect(seen.ended).toBe(true)
  })

  it('breaks off where the source fails, so that it never looks whole', async () => {
    const { chunks } = source(5, 100_000, 2)
    await expect(new Response(bodyOf([], chunks)).arrayBuffer()).rejects.toThrow('an extent is gone')
  })
})

describe('an answer of a stream', () => {
  it('that fails at its first piece is an error before any status is sent', async () => {
    await expect(answerStream(source(5, 10, 0).chunks, {})).rejects.toThrow('an extent is gone')
    async function* none(): AsyncGenerator<unknown> {
      yield* []
      throw new Error('no run')
    }
    await expect(answerLines(none())).rejects.toThrow('no run')
  })

  it('is the whole of it', async () => {
    const answer = await answerStream(source(7, 1000).chunks, {})
    expect((await answer.arrayBuffer()).byteLength).toBe(7000)
    async function* two() {
      yield { a: 1n }
      yield [null]
    }
    expect(await (await answerLines(two())).text()).toBe('{"a":1}\n[null]\n')
  })
})
