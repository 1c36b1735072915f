import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeFrame, PREAMBLE } from '#codec'
import { type Mishap, startServer } from './kit.ts'

const WORKER = { machine_id: 'm', world_id: 'w' }

/** The connection is cut where nobody notices: nothing comes, and no error either. */
const silence: Mishap = (request) =>
  new Promise((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason))
  })

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** How long a promise took, in seconds; looked at every second for five minutes. */
const secondsUntil = async (work: Promise<unknown>): Promise<number> => {
  let isOver = false
  const over = () => {
    isOver = true
  }
  work.then(over, over)
  let seconds = 0
  for (; !isOver && seconds < 300; seconds++) await vi.advanceTimersByTimeAsync(1000)
  return seconds
}

describe('a connection that has gone silent', () => {
  it('does not hold up a lease or an append for longer than a lease lasts', async () => {
    const { client, mishaps } = await startServer()
    const { epoch } = await client.acquire('r', WORKER)
    const bytes = Buffer.concat([PREAMBLE, encodeFrame(Buffer.from('{}'))])
    for (const ask of [
      () => client.renew('r', { epoch }),
      () => client.acquire('r', WORKER),
      () => client.append('r', { offset: 0, epoch, bytes }),
      () => client.tail('r'),
      () => client.capabilities(),
    ]) {
      mishaps.push(silence)
      const answer = ask()
      expect(await secondsUntil(answer)).toBeLessThan(40)
      await expect(answer).resolves.toBeDefined()
    }
  })

  it('says unavailable in the end', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(silence)
    const claimed = client.claim({ ...WORKER, capabilities: [] })
    const refused = expect(claimed).rejects.toMatchObject({
      code: 'unavailable',
      facts: { reason: 'ETIMEDOUT' },
    })
    expect(await secondsUntil(claimed)).toBeLessThan(40)
    await refused
  })

  it('is given the time that a wait was asked for, and a large batch the time it needs', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(silence)
    const claimed = client.claim({ ...WORKER, capabilities: [], wait_s: 20 })
    claimed.catch(() => undefined)
    expect(await secondsUntil(claimed)).toBeGreaterThanOrEqual(50)
    const { epoch } = await client.acquire('r', WORKER)
    mishaps.push(silence)
    const bytes = Buffer.concat([
      PREAMBLE,
      encodeFrame(Buffer.from(`"${crypto.randomUUID().repeat(30_000)}"`)),
    ])
    const appended = client.append('r', { offset: 0, epoch, bytes: bytes })
    expect(await secondsUntil(appended)).toBeGreaterThan(30)
  })

  it('is waited for where the server may take long, until the caller cancels', async () => {
    const { client, mishaps } = await startServer()
    mishaps.push(silence)
    expect(await secondsUntil(client.verify('r').catch(() => undefined))).toBe(300)
  })
})
