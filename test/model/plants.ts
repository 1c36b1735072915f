import type { Expectation, StorePorts } from '#store'
import type { Plant } from '../kit/model-run.ts'
import type { SMALL } from './small.ts'

// Known bugs, each put between an actor and its ports, and the scenario that must find it.

interface Planted {
  readonly plant: Plant
  readonly scenario: keyof typeof SMALL
}

/** One condition is taken out of every commit. */
const without = (name: keyof Expectation): Plant => ({
  ports: (ports) => {
    const commit: StorePorts['index']['commit'] = (run, expect, change, card) => {
      const { [name]: _, ...rest } = expect
      return ports.index.commit(run, rest, change, card)
    }
    return { ...ports, index: { ...ports.index, commit } }
  },
})

const commitBeforePut: Plant = {
  ports: (ports) => {
    const { objects, index } = ports
    let late: (() => Promise<void>)[] = []
    const put: typeof objects.put = async (...args) => void late.push(() => objects.put(...args))
    const commit: typeof index.commit = async (...args) => {
      const isMade = await index.commit(...args)
      for (const store of late) await store()
      late = []
      return isMade
    }
    return { ...ports, objects: { ...objects, put }, index: { ...index, commit } }
  },
}

/** A deletion leaves nothing to see, so the next life begins at epoch 1. */
const forgetfulTombstone: Plant = {
  ports: (ports) => {
    const { index } = ports
    const head: typeof index.head = async (run) => {
      const found = await index.head(run)
      return found?.alive ? found : undefined
    }
    const commit: typeof index.commit = (run, expect, change, card) =>
      index.commit(run, expect.absent ? { alive: false } : expect, change, card)
    return { ...ports, index: { ...index, head, commit } }
  },
}

/** A batch that comes a second time is a new one. */
const retryAppends: Plant = {
  archive: (archive) => {
    const seen = new Set<Uint8Array>()
    return {
      ...archive,
      append: async (run, request) => {
        const { tail } = (await archive.view(run)).head
        const offset = seen.has(request.bytes) ? tail : request.offset
        seen.add(request.bytes)
        return archive.append(run, { ...request, offset })
      },
    }
  },
}

export const PLANTS: Readonly<Record<string, Planted>> = {
  'no epoch check': { plant: without('epoch'), scenario: 'an append and a takeover that appends' },
  'no epoch check, after a hand-over': { plant: without('epoch'), scenario: 'an append and a hand-over' },
  'no epoch check, between two claimants': {
    plant: without('epoch'),
    scenario: 'two claimants of a run that was given back',
  },
  'no position check': { plant: without('tail'), scenario: 'two batches for one place' },
  'a commit before its PUT': { plant: commitBeforePut, scenario: 'an append and its retry' },
  'a deletion before the grace is over': {
    plant: { graceMs: 0 },
    scenario: 'a read beside merges and sweeps that keep to their grace',
  },
  'no sweep generation, a writer stalled across a sweep': {
    plant: without('sweep'),
    scenario: 'an append, and a sweep that finds its object',
  },
  'no sweep generation, a merge stalled across a sweep': {
    plant: without('sweep'),
    scenario: 'a merge, and a sweep that finds its object',
  },
  'no sweep generation, an upload stalled across a sweep': {
    plant: without('sweep'),
    scenario: 'an upload, and a sweep that finds its object',
  },
  'an epoch that begins anew with the run': {
    plant: forgetfulTombstone,
    scenario: 'an append and the run made anew',
  },
  'a merge without the check of its keys': { plant: without('extents'), scenario: 'two merges that overlap' },
  'a retry that appends twice': { plant: retryAppends, scenario: 'two writers that do not give up' },
  'an append that takes a renewal back': {
    plant: without('lease_expires_at'),
    scenario: 'an append and a renewal',
  },
}
