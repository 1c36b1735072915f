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
