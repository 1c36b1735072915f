import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { StoredToken } from '../../../../shared/store/ports.ts'
import { type ChooseFault, startFaultProxy } from '../../../kit/fault-proxy.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

const token = (tenant: string, n: number): StoredToken => ({
  token_id: `id-${n}`,
  hash: `${tenant}-hash-${n}`,
  name: 'for tests',
  tenant,
  scopes: ['read', 'append'],
  run_prefix: null,
  expires_at: n === 1 ? 5 : null,
  created_at: 100 - n,
  last_used_at: null,
})

async function tokensBehind(choose: ChooseFault) {
  const proxy = await startFaultProxy(standIns.dynamodb, choose)
  const { tokens, close } = portsOf({ ...standIns, dynamodb: proxy.endpoint })
  onTestFinished(async () => {
    close()
    await proxy.stop()
  })
  return tokens
}

describe('tokens in DynamoDB', () => {
  it('are found by hash and listed by tenant, oldest first, until removed', async () => {
    const tokens = await tokensBehind(() => undefined)
    for (const n of [1, 2, 3]) await tokens.put(token('a', n))
    await tokens.put(token('b', 1))
    expect(await tokens.byHash('a-hash-1')).toEqual(token('a', 1))
    expect(await tokens.byHash('a-hash-9')).toBeUndefined()
    expect(await tokens.list('a')).toEqual([token('a', 3), token('a', 2), token('a', 1)])
    await tokens.touch('a-hash-2', 77)
    expect((await tokens.list('a'))[1]?.last_used_at).toBe(77)
    expect(await tokens.remove('b', 'id-2')).toBe(false)
    expect(await tokens.remove('a', 'id-2')).toBe(true)
    expect(await tokens.remove('a', 'id-2')).toBe(false)
    expect(await tokens.byHash('a-hash-2')).toBeUndefined()
    expect(await tokens.list('a')).toHaveLength(2)
  })

  it('are not brought back by a use that comes after their removal', async () => {
    const tokens = await tokensBehind(() => undefined)
    await tokens.put(token('c', 1))
    await tokens.remove('c', 'id-1')
    await tokens.touch('c-hash-1', 77)
    expect(await tokens.byHash('c-hash-1')).toBeUndefined()
  })

  it('whose removal broke off no longer work and can be removed again', async () => {
    let deletes = 0
    const tokens = await tokensBehind(({ operation }) =>
      operation === 'DeleteItem' && deletes++ > 0 && deletes < 6 ? 'error_before' : undefined,
    )
    await tokens.put(token('d', 1))
    await expect(tokens.remove('d', 'id-1')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await tokens.byHash('d-hash-1')).toBeUndefined()
    expect(await tokens.remove('d', 'id-1')).toBe(true)
    expect(await tokens.remove('d', 'id-1')).toBe(false)
  })
})
