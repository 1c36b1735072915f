import { expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { explore, type Scenario, sample } from '../../kit/model-explore.ts'
import { ModelRun, RUN, type Sabotage } from '../../kit/model-run.ts'
import { joined, say } from '../../kit/stored-run.ts'

// Every order in which a few actors can reach the storage, with a fault anywhere; and the same with one condition taken
// away, which some history must then show to be needed.

type Begin = (sabotage?: Sabotage) => Promise<Scenario>

const scenario =
  (batches: number, act: (run: ModelRun) => void, check?: (run: ModelRun) => Promise<void>): Begin =>
  async (sabotage) => {
    const run = await ModelRun.begin(batches, sabotage)
    act(run)
    return {
      gate: run.gate,
      check: async () => {
        await run.check()
        await check?.(run)
      },
    }
  }

/** A batch that tells which epoch it was written under. */
const batch = (run: ModelRun, text: string) => ({
  epoch: run.epoch,
  offset: run.tail,
  bytes: say(`epoch ${run.epoch} ${text}`),
})

const scenarios: Record<string, { begin: Begin; faults: number }> = {
  'an append and its retry': {
    faults: 1,
    begin: scenario(1, (run) => {
      run.append('writer', batch(run, 'a'))
      run.append('retry', batch(run, 'a'))
    }),
  },
  'two batches for one place': {
    faults: 1,
    begin: scenario(1, (run) => {
      run.append('one', batch(run, 'a'))
      run.append('other', batch(run, 'bb'))
    }),
  },
  'an append and a takeover that appends': {
    faults: 1,
    begin: scenario(1, (run) => {
      run.append('writer', batch(run, 'late'))
      run.takeOver('heir')
    }),
  },
  'an append and a hand-over': {
    faults: 1,
    begin: scenario(1, (run) => {
      run.append('writer', batch(run, 'late'))
      run.handOver('heir')
    }),
  },
  'an append and a merge': {
    faults: 1,
    begin: scenario(3, (run) => {
      run.append('writer', batch(run, 'a'))
      run.merge('merger', 0, 2)
    }),
  },
  'two merges that overlap': {
    faults: 0,
    begin: scenario(4, (run) => {
      run.merge('wide', 0, 3)
      run.merge('narrow', 1, 2)
    }),
  },
  'a merge, and a sweep that finds its object': {
    faults: 1,
    begin: scenario(3, (run) => {
      run.merge('merger', 0, 2)
      run.sweep('sweeper')
    }),
  },
  'an append, and a sweep that finds its object': {
    faults: 1,
    begin: scenario(1, (run) => {
      run.append('writer', batch(run, 'a'))
      run.sweep('sweeper')
    }),
  },
  'a read, a merge and a sweep': {
    faults: 0,
    begin: scenario(2, (run) => {
      run.read('reader')
      run.merge('merger', 0, 1)
      run.sweep('sweeper')
    }),
  },
  'an append and the run made anew': {
    faults: 1,
    begin: scenario(0, (run) => {
      run.append('writer', { ...batch(run, ''), bytes: joined(PREAMBLE, say(`epoch ${run.epoch} dead`)) })
      run.startAnew('heir')
    }),
  },
  'a merge and the run made anew': {
    faults: 0,
    begin: scenario(2, (run) => {
      run.merge('merger', 0, 1)
      run.startAnew('heir')
    }),
  },
  'an append and a renewal': {
    faults: 0,
    begin: scenario(
      1,
      (run) => {
        run.append('writer', batch(run, 'a'))
        run.renew('keeper', 3600)
      },
      async (run) => {
        const lease = (await run.ports.index.head(RUN))?.lease
        expect(lease?.expires_at).toBe(run.clock.now() + 3_600_000)
      },
    ),
  },
}

it.each(Object.entries(scenarios))(
  '%s: no history breaks a promise',
  { timeout: 60_000 },
  async (_, { begin, faults }) => {
    const played = await explore(() => begin(), { faults, most: 60_000 })
    expect(played).toBeGreaterThan(1)
  },
)

const without =
  (name: string): Sabotage =>
  (ports) => ({
    ...ports,
    index: {
      ...ports.index,
      commit: (run, { [name as 'epoch']: _, ...expectation }, change, card) =>
        ports.index.commit(run, expectation, change, card),
    },
  })

it.each([
  ['epoch', 'an append and a takeover that appends'],
  ['tail', 'two batches for one place'],
  ['sweep', 'an append, and a sweep that finds its object'],
  ['sweep', 'a merge, and a sweep that finds its object'],
  ['lease_expires_at', 'an append and a renewal'],
  ['extents', 'two merges that overlap'],
  ['epoch', 'an append and a hand-over'],
])('without %s in the conditions, "%s" goes wrong', { timeout: 60_000 }, async (name, title) => {
  const { begin } = scenarios[title] as (typeof scenarios)[string]
  await expect(explore(() => begin(without(name)), { faults: 0, most: 60_000 })).rejects.toThrow(/after\n/)
})

it('everything at once breaks no promise', { timeout: 60_000 }, async () => {
  const begin = scenario(4, (run) => {
    run.append('writer', batch(run, 'a'))
    run.append('retry', batch(run, 'a'))
    run.merge('merger', 0, 2)
    run.merge('other merger', 1, 3)
    run.sweep('sweeper')
    run.read('reader')
    run.takeOver('heir')
  })
  await sample(() => begin(), { faults: 2, count: 1000, seed: 7 })
})

it('maintenance beside everything breaks no promise and leaves no garbage', { timeout: 60_000 }, async () => {
  const begin = scenario(
    4,
    (run) => {
      run.clock.advance(61_000) // nobody renews, so the run is idle and due
      run.maintain('maintainer')
      run.maintain('other maintainer')
      run.append('writer', batch(run, 'a'))
      run.read('reader')
      run.takeOver('heir')
    },
    (run) => run.checkGarbage(),
  )
  await sample(() => begin(), { faults: 2, count: 500, seed: 11 })
})
