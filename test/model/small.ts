import { SNAPSHOT_POLICY } from '../../shared/store/maintain/snapshot-policy.ts'
import { RUN } from '../kit/model-client.ts'
import type { ModelRun } from '../kit/model-run.ts'
import { type BeginWith, scenario } from './scenario.ts'

export interface Small {
  readonly begin: BeginWith
  readonly faults: number
  /** Where all orders are still too many. */
  readonly delays?: number
}

/** Two or three actors: few enough steps for every order of them. */
export const SMALL = {
  'an append and its retry': {
    faults: 1,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.append('writer', run.batch('a'))
        run.append('retry', run.batch('a'))
      },
    }),
  },
  'two batches for one place': {
    faults: 1,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.append('one', run.batch('a'))
        run.append('other', run.batch('bb'))
      },
    }),
  },
  'two writers that do not give up': {
    faults: 1,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.write('one', 'a')
        run.write('other', 'bb')
      },
    }),
  },
  'an append and a takeover that appends': {
    faults: 1,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.append('writer', run.batch('late'))
        run.takeOver('heir', 'heir')
      },
    }),
  },
  'an append and a hand-over': {
    faults: 1,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.append('writer', run.batch('late'))
        run.handOver('heir')
      },
    }),
  },
  'two claimants of a run that was given back': {
    faults: 1,
    delays: 3,
    begin: scenario({
      batches: 1,
      act: async (run) => {
        await run.archive.release(RUN, run.epoch)
        run.append('writer', run.batch('late'))
        run.claim('one', 'a')
        run.claim('other', 'bb')
      },
      check: claimedOnce,
    }),
  },
  'two claimants of a run whose lease has run out, and its owner': {
    faults: 1,
    delays: 3,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.clock.advance(61_000)
        run.append('writer', run.batch('late')) // which prolongs the lease where it comes first
        run.claim('one', 'a')
        run.claim('other', 'bb')
      },
      check: claimedOnce,
    }),
  },
  'an append and a merge': {
    faults: 1,
    begin: scenario({
      batches: 3,
      act: (run) => {
        run.append('writer', run.batch('a'))
        run.merge('merger', 0, 2)
      },
    }),
  },
  'two merges that overlap': {
    faults: 0,
    begin: scenario({
      batches: 4,
      act: (run) => {
        run.merge('wide', 0, 3)
        run.merge('narrow', 1, 2)
      },
    }),
  },
  'a merge, and a sweep that finds its object': {
    faults: 1,
    begin: scenario({
      batches: 3,
      act: (run) => {
        run.merge('merger', 0, 2)
        run.sweep('sweeper')
      },
    }),
  },
  'an append, and a sweep that finds its object': {
    faults: 1,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.append('writer', run.batch('a'))
        run.sweep('sweeper')
      },
    }),
  },
  'a read, a merge and a sweep': {
    faults: 0,
    begin: scenario({
      batches: 2,
      act: (run) => {
        run.read('reader')
        run.merge('merger', 0, 1)
        run.sweep('sweeper')
      },
    }),
  },
  'a read beside merges and sweeps that keep to their grace': {
    faults: 0,
    delays: 3,
    begin: scenario({
      batches: 3,
      graceMs: 1000,
      act: (run) => {
        run.read('reader')
        run.mergeAndSweepTwice('keeper')
      },
    }),
  },
  'an upload, and an append to the same place': {
    faults: 1,
    delays: 3,
    begin: scenario({
      batches: 1,
      act: async (run) => {
        run.complete('uploader', await run.opened('u'))
        run.append('writer', run.batch('a'))
      },
    }),
  },
  'an upload completed twice': {
    faults: 0,
    delays: 3,
    begin: scenario({
      batches: 1,
      act: async (run) => {
        const upload = await run.opened('u')
        run.complete('uploader', upload)
        run.complete('retry', upload)
      },
    }),
  },
  'an upload and its abortion': {
    faults: 1,
    delays: 3,
    begin: scenario({
      batches: 1,
      act: async (run) => {
        const upload = await run.opened('u')
        run.complete('uploader', upload)
        run.abort('quitter', upload)
      },
    }),
  },
  'an upload, and a sweep that finds its object': {
    faults: 1,
    delays: 3,
    begin: scenario({
      batches: 1,
      act: async (run) => {
        run.expected.add('not_found') // it is gone, and the client sends it again
        run.complete('uploader', await run.opened('u'))
        run.sweep('sweeper')
      },
    }),
  },
  'an upload and a takeover': {
    faults: 1,
    delays: 3,
    begin: scenario({
      batches: 1,
      act: async (run) => {
        run.complete('uploader', await run.opened('u'))
        run.takeOver('heir')
      },
    }),
  },
  'an append and the run made anew': {
    faults: 1,
    begin: scenario({
      batches: 0,
      act: (run) => {
        run.append('writer', run.batch('dead'))
        run.startAnew('heir', 'anew')
      },
    }),
  },
  'a merge and the run made anew': {
    faults: 0,
    begin: scenario({
      batches: 2,
      act: (run) => {
        run.merge('merger', 0, 1)
        run.startAnew('heir', 'anew')
      },
    }),
  },
  'snapshots, an append and a sweep': {
    faults: 1,
    delays: 1,
    begin: scenario({
      batches: 3,
      snapshots: { ...SNAPSHOT_POLICY, everyBytes: 1, mergedBytes: 1 },
      act: (run) => {
        run.clock.advance(61_000) // nobody renews, so the run is idle and due
        run.maintain('maintainer')
        run.append('writer', run.batch('a'))
        run.sweep('sweeper')
      },
    }),
  },
  'snapshots twice at once': {
    faults: 0,
    delays: 2,
    begin: scenario({
      batches: 3,
      snapshots: { ...SNAPSHOT_POLICY, everyBytes: 1, mergedBytes: 1 },
      act: (run) => {
        run.clock.advance(61_000)
        run.maintain('maintainer')
        run.maintain('other maintainer')
      },
    }),
  },
  'an append and a renewal': {
    faults: 0,
    begin: scenario({
      batches: 1,
      act: (run) => {
        run.append('writer', run.batch('a'))
        run.renew('keeper', 3600)
      },
      check: async (run) => {
        const lease = (await run.ports.index.head(RUN))?.lease
        if (lease?.expires_at !== run.clock.now() + 3_600_000) throw new Error('the renewal was taken back')
      },
    }),
  },
} satisfies Record<string, Small>

/** Nothing gives the run back, so whoever comes second finds it held. */
async function claimedOnce({ told }: ModelRun): Promise<void> {
  const claimants = told.taken.slice(1).map(({ lease }) => lease.machine_id)
  if (claimants.length > 1) throw new Error(`the run was handed to ${claimants.join(' and ')}`)
}
