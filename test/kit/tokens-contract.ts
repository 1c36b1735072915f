import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { StoredToken, StorePorts } from '#store'
import { namesOfATest } from './contract-samples.ts'

/** What ports.ts promises of tokens, held against one store. */
export function tokensContract(ports: () => StorePorts): void {
  const { fresh, tenant } = namesOfATest()

  describe('tokens', () => {
    const token = (more: Partial<StoredToken> = {}): StoredToken => ({
      token_id: `tok_${randomUUID()}`,
      hash: randomBytes(32).toString('hex'),
      name: 'a name ü',
      tenant: tenant(),
      scopes: ['append', 'read'],
      run_prefix: null,
      expires_at: null,
      created_at: 5,
      last_used_at: null,
      ...more,
    })

    it('are found by hash and listed by tenant, oldest first', async () => {
      fresh()
      const { tokens } = ports()
      const all = [
        token({ created_at: 9 }),
        token({ created_at: 7, expires_at: 8, run_prefix: 'p-' }),
        token({ created_at: 8 }),
      ]
      for (const each of all) await tokens.put(each)
      for (const each of all) expect(await tokens.byHash(each.hash)).toEqual(each)
      expect(await tokens.byHash('0'.repeat(64))).toBeUndefined()
      expect(await tokens.list(tenant())).toEqual([all[1], all[2], all[0]])
      expect(await tokens.list('nobody')).toEqual([])
    })

    it('are removed by their tenant alone', async () => {
      fresh()
      const { tokens } = ports()
      const [one, two] = [token(), token({ created_at: 6 })]
      for (const each of [one, two]) await tokens.put(each)
      expect(await tokens.remove('somebody-else', one.token_id)).toBe(false)
      expect(await tokens.byHash(one.hash)).toEqual(one)
      expect(await tokens.remove(tenant(), one.token_id)).toBe(true)
      expect(await tokens.remove(tenant(), one.token_id)).toBe(false)
      expect(await tokens.byHash(one.hash)).toBeUndefined()
      expect(await tokens.list(tenant())).toEqual([two])
    })

    it('remember when they were used', async () => {
      fresh()
      const { tokens } = ports()
      const one = token()
      await tokens.put(one)
      await tokens.touch(one.hash, 77)
      expect(await tokens.byHash(one.hash)).toEqual({ ...one, last_used_at: 77 })
      expect(await tokens.list(tenant())).toEqual([{ ...one, last_used_at: 77 }])
      await tokens.touch('0'.repeat(64), 77)
      expect(await tokens.byHash('0'.repeat(64))).toBeUndefined()
    })
  })
}
