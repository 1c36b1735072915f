import { describe, expect, it } from 'vitest'
import type { RunKey } from '#schema'
import type { CardRow, StorePorts } from '#store'
import { HEAD, namesOfATest, whole } from './contract-samples.ts'

/** What ports.ts promises of cards and transfers, held against one store. */
export function cardsContract(ports: () => StorePorts): void {
  const { fresh, run, tenant } = namesOfATest()

  describe('cards', () => {
    const index = () => ports().index
    const row = (key: RunKey, more: Partial<CardRow> = {}): CardRow => ({
      run: key,
      life: 1,
      tail: 60,
      created_at: 1_790_000_000_000,
      workdir: '/work',
      card: {
        run_id: key.run_id,
        agent_name: 'agent ü🚀',
        title: null,
        task: 'a task',
        status: 'running',
        model: 'm/x',
        parent_run_id: null,
        machine_id: 'machine',
        world_id: 'world',
        started_at: 2n ** 62n,
        error: null,
      },
      ...more,
    })
    const write = (card: CardRow) => index().commit(card.run, {}, { set: {} }, card)
    const make = async (key: RunKey, more: Partial<CardRow> = {}) => {
      await index().commit(key, { absent: true }, whole(HEAD), row(key, more))
      return key
    }

    it('are written with the head and come back exactly', async () => {
      const key = fresh()
      expect(await index().card(key)).toBeUndefined()
      await make(key)
      expect(await index().card(key)).toEqual(row(key))
      expect(await index().cards(tenant(), { order: 'asc', limit: 9 })).toEqual([row(key)])
    })

    it('are not written when the head is not', async () => {
      const key = await make(fresh())
      expect(await index().commit(key, { epoch: 99 }, { set: {} }, row(key, { tail: 99 }))).toBe(false)
      expect(await index().card(key)).toEqual(row(key))
    })

    it('never go back to an older tail or life', async () => {
      const key = await make(fresh())
      for (const [life, tail] of [
        [1, 80],
        [1, 70],
        [3, 6],
        [2, 999],
        [3, 6],
      ] as const)
        await write(row(key, { life, tail }))
      expect(await index().card(key)).toEqual(row(key, { life: 3, tail: 6 }))
    })

    it('are taken out of the listing with their life', async () => {
      const key = await make(fresh(), { life: 4 })
      await index().removeCard(key, 3)
      expect(await index().card(key)).toBeDefined()
      await index().removeCard(key, 4)
      expect(await index().card(key)).toBeUndefined()
      expect(await index().cards(tenant(), { order: 'desc', limit: 9 })).toEqual([])
      await index().removeCard(key, 4)
    })

    it('stand in order of creation, then of name, and go on after any place', async () => {
      fresh()
      const made: [string, number][] = [
        ['b', 5],
        ['a', 5],
        ['c', 5],
        ['z', 4],
        ['d', 6],
        ['A', 5],
        ['e', 1_790_000_000_000],
      ]
      for (const [id, created_at] of made) await make(run(id), { created_at })
      const want = ['z', 'A', 'a', 'b', 'c', 'd', 'e']
      for (const order of ['asc', 'desc'] as const) {
        const ordered = order === 'asc' ? want : want.toReversed()
        for (const limit of [1, 2, 7, 100]) {
          const seen: string[] = []
          for (let page = await index().cards(tenant(), { order, limit }); page.length > 0; ) {
            expect(page.length).toBeLessThanOrEqual(limit)
            seen.push(...page.map((card) => card.run.run_id))
            const last = page.at(-1) as CardRow
            const after = { created_at: last.created_at, run_id: last.run.run_id }
            page = await index().cards(tenant(), { order, limit, after })
          }
          expect(seen).toEqual(ordered)
        }
      }
      const after = { created_at: 5, run_id: '' }
      const later = await index().cards(tenant(), { order: 'asc', limit: 9, after })
      expect(later.map((card) => card.run.run_id)).toEqual(['A', 'a', 'b', 'c', 'd', 'e'])
    })

    it('of other tenants are not seen', async () => {
      await make(fresh())
      const other = tenant()
      await make(fresh())
      expect(await index().cards(other, { order: 'asc', limit: 9 })).toHaveLength(1)
      expect(await index().cards(`${tenant()}x`, { order: 'asc', limit: 9 })).toEqual([])
    })
  })

  describe('transfers', () => {
    const transfer = (epoch: number) => ({
      epoch,
      machine_id: `m${epoch}`,
      world_id: 'w',
      from: '2026-11-30T00:00:00.000Z',
      reason: 'forced' as const,
    })
    it('are kept once by epoch, newest first', async () => {
      const key = fresh()
      expect(await ports().index.transfers(key, 10)).toEqual([])
      for (const epoch of [1, 3, 100, 20, 3]) await ports().index.putTransfer(key, transfer(epoch))
      expect(await ports().index.transfers(key, 10)).toEqual([100, 20, 3, 1].map(transfer))
      expect(await ports().index.transfers(key, 2)).toEqual([100, 20].map(transfer))
      expect(await ports().index.transfers(run('other'), 10)).toEqual([])
    })
  })
}
