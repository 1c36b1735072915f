import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { runChaos } from '../../chaos/chaos.ts'

// The short form of `npm run bench -- chaos`; CHAOS_SEED plays one again.

it('whatever happens to machines, network, server and storage, nothing is lost, doubled or written by who lost the run', {
  timeout: 300_000,
}, async () => {
  const seed = Number(process.env.CHAOS_SEED ?? randomInt(2 ** 31))
  const said: string[] = []
  const outcome = await runChaos({ seed, rounds: 1, log: (line) => said.push(line) })
  const { lost, doubled, fenced_bytes, wrong, takeovers, kills, frames } = outcome
  expect({ lost, doubled, fenced_bytes, wrong }, said.join('\n')).toEqual({
    lost: 0,
    doubled: 0,
    fenced_bytes: 0,
    wrong: [],
  })
  expect(Math.min(takeovers, kills, frames)).toBeGreaterThan(0)
  console.log(said.join('\n'))
})
