import { expect, it } from 'vitest'
import { explore, sample } from '../../kit/model-explore.ts'
import { LARGE } from '../../model/large.ts'
import { PLANTS } from '../../model/plants.ts'
import { findPlanted } from '../../model/play.ts'
import { SMALL, type Small } from '../../model/small.ts'

// The orders in which a few actors can reach the storage, with a fault anywhere; and known bugs, which some order must
// show. `npm run test:model` plays far more of them.

const smalls: [string, Small][] = Object.entries(SMALL)

it.each(smalls)('%s: no history breaks a promise', { timeout: 60_000 }, async (_, small) => {
  const { begin, faults, delays = 2 } = small
  const played = await explore(() => begin(), { faults, delays: Math.min(delays, 2), most: 3000 })
  expect(played.size).toBeGreaterThan(1)
})

it.each(Object.entries(LARGE))('%s: no promise is broken', { timeout: 60_000 }, async (_, begin) => {
  const played = await sample(() => begin(), { faults: 2, count: 200, seed: 7 })
  expect(played.size).toBeGreaterThan(190)
})

it.each(Object.keys(PLANTS))('%s is found', { timeout: 60_000 }, async (name) => {
  expect(await findPlanted(name)).toMatch(/after\n/)
})
