import { describe, expect, it } from 'vitest'
import { createTokens } from '#store'
import { memoryPorts } from '#store/memory'
import { createLogin } from '../../../functions/api/login.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { testApi } from './api-kit.ts'

async function loginOf() {
  const clock = manualClock()
  const tokens = createTokens(memoryPorts(clock).tokens, clock)
  await tokens.install('first')
  const login = createLogin({ tokens, maker: () => tokens.check('first'), clock })
  return { clock, tokens, login }
}

const refused = expect.objectContaining({ code: 'unauthorized' })

describe('the code of the printed link', () => {
  it('gives a token that reads for twelve hours at most', async () => {
    const { clock, tokens, login } = await loginOf()
    const { token, expires_at } = await login.exchange(login.code)
    expect(Date.parse(expires_at) - clock.now()).toBe(12 * 3_600_000)
    expect(await tokens.check(token)).toMatchObject({ tenant: 'default', scopes: ['read', 'resume'] })
    clock.advance(12 * 3_600_000)
    expect(await tokens.check(token)).toBeUndefined()
  })

  it('works once, also for two who come at the same time', async () => {
    const { login } = await loginOf()
    const both = await Promise.allSettled([login.exchange(login.code), login.exchange(login.code)])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(login.exchange(login.code)).rejects.toEqual(refused)
  })

  it('is good for two minutes', async () => {
    const { clock, login } = await loginOf()
    clock.advance(120_000)
    await expect(login.exchange(login.code)).rejects.toEqual(refused)
  })

  it('cannot be guessed at leisure', async () => {
    const { clock, login } = await loginOf()
    for (let n = 0; n < 10; n++) await expect(login.exchange(`guess ${n}`)).rejects.toEqual(refused)
    await expect(login.exchange(login.code)).rejects.toMatchObject({ code: 'slow_down' })
    clock.advance(60_000)
    await expect(login.exchange(login.code)).resolves.toHaveProperty('token')
  })

  it('is another one at each start', async () => {
    const [one, other] = [await loginOf(), await loginOf()]
    expect(one.login.code).toMatch(/^[\w-]{32}$/)
    expect(one.login.code).not.toBe(other.login.code)
  })
})

describe('POST /v1/login', () => {
  const given = { token: 't', expires_at: '2026-11-30T12:00:00.000Z' }

  it('answers the token without asking for one', async () => {
    const { as } = await testApi({ login: { code: 'c', exchange: async () => given } })
    const { status, json } = await as(null).post('/v1/login', { code: 'c' })
    expect([status, { ...json }]).toEqual([200, given])
    expect((await as(null).post('/v1/login', { code: 1 })).status).toBe(400)
  })

  it('is no route of a server that prints no link', async () => {
    const { as } = await testApi()
    expect((await as(null).post('/v1/login', { code: 'c' })).status).toBe(404)
  })
})
