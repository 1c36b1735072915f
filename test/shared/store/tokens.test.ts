import { beforeEach, expect, it } from 'vitest'
import { createTokens, type Principal, type Tokens } from '#store'
import { memoryPorts } from '#store/memory'
import { type ManualClock, manualClock } from '../../kit/manual-clock.ts'

let clock: ManualClock
let tokens: Tokens
beforeEach(() => {
  clock = manualClock()
  tokens = createTokens(memoryPorts(clock).tokens, clock)
})

const maker = (more: Partial<Principal> = {}): Principal => ({
  token_id: 'tok_maker',
  tenant: 'default',
  scopes: ['admin', 'read'],
  run_prefix: null,
  expires_at: null,
  ...more,
})
const later = (ms: number) => new Date(clock.now() + ms).toISOString()

it('shows a token once and knows it again by its hash alone', async () => {
  const made = await tokens.make(maker(), { name: 'ci', scopes: ['read'], run_prefix: 'ci-' })
  expect(made.token).toMatch(/^rf_[A-Za-z0-9_-]{43}$/)
  expect(await tokens.check(made.token)).toEqual({
    token_id: made.token_id,
    tenant: 'default',
    scopes: ['read'],
    run_prefix: 'ci-',
    expires_at: null,
  })
  expect(await tokens.check(`${made.token}x`)).toBeUndefined()
  const { token, ...row } = made
  expect(await tokens.list(maker())).toEqual([{ ...row, last_used_at: new Date(clock.now()).toISOString() }])
  expect(JSON.stringify(await tokens.list(maker()))).not.toContain(token)
})

it('never makes a token wider than its maker', async () => {
  const bound = maker({ run_prefix: 'a-', expires_at: clock.now() + 60_000 })
  const narrow = { name: 'x', scopes: ['read'] as const }
  const wider = [
    tokens.make(maker(), { name: 'x', scopes: ['append'] }),
    tokens.make(maker(), { ...narrow, scopes: ['read'], tenant: 'other' }),
    tokens.make(bound, { ...narrow, scopes: ['read'], run_prefix: 'b-' }),
    tokens.make(bound, { ...narrow, scopes: ['read'], run_prefix: 'a' }),
    tokens.make(bound, { ...narrow, scopes: ['read'], expires_at: later(60_001) }),
  ]
  for (const refused of wider) await expect(refused).rejects.toMatchObject({ code: 'forbidden' })
  expect(await tokens.make(bound, { name: 'x', scopes: ['read'] })).toMatchObject({
    run_prefix: 'a-',
    expires_at: later(60_000),
  })
  expect(
    await tokens.make(bound, { name: 'x', scopes: ['read'], run_prefix: 'a-b', expires_at: later(9) }),
  ).toMatchObject({ run_prefix: 'a-b' })
  const operator = maker({ scopes: ['operator', 'read'] })
  expect(await tokens.make(operator, { name: 'x', scopes: ['read'], tenant: 'other' })).toMatchObject({
    tenant: 'other',
  })
})

it('ends at its expiry to the millisecond', async () => {
  const { token } = await tokens.make(maker(), { name: 'x', scopes: ['read'], expires_at: later(1000) })
  clock.advance(999)
  expect(await tokens.check(token)).toBeDefined()
  clock.advance(1)
  expect(await tokens.check(token)).toBeUndefined()
  await expect(
    tokens.make(maker(), { name: 'x', scopes: ['read'], expires_at: later(0) }),
  ).rejects.toMatchObject({ code: 'bad_request' })
})

it('is revoked at once here and within a minute in other processes', async () => {
  const { tokens: index } = memoryPorts(clock)
  const [here, there] = [createTokens(index, clock), createTokens(index, clock)]
  const { token, token_id } = await here.make(maker(), { name: 'x', scopes: ['read'] })
  expect(await there.check(token)).toBeDefined()
  expect(await here.revoke(maker({ tenant: 'other' }), token_id)).toBe(false)
  expect(await here.check(token)).toBeDefined()
  expect(await here.revoke(maker(), token_id)).toBe(true)
  expect(await here.check(token)).toBeUndefined()
  clock.advance(59_000)
  expect(await there.check(token)).toBeUndefined()
  expect(await here.revoke(maker(), token_id)).toBe(false)
})

it('installs the first token once', async () => {
  for (let i = 0; i < 2; i++) await tokens.install('the-first-token')
  expect(await tokens.list(maker())).toHaveLength(1)
  expect(await tokens.check('the-first-token')).toMatchObject({
    tenant: 'default',
    scopes: ['append', 'read', 'resume', 'admin', 'operator'],
  })
})
