import { describe, expect, it } from 'vitest'
import { foldQuery, listQuery, pointsQuery } from '#schema'
import {
  createArchive,
  createMaintainer,
  foldAnswer,
  meter,
  pointsPage,
  type Readings,
  recordsPage,
  verifyAnswer,
} from '#store'
import { awsTariff } from '#store/aws'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../../kit/manual-clock.ts'
import { plainHeader } from '../../kit/plain-header.ts'
import { frameOf, LIMITS, StoredRun, say } from '../../kit/stored-run.ts'

const header = frameOf(JSON.stringify(plainHeader()))

async function meteredRun() {
  const clock = manualClock()
  const metered = meter(memoryPorts(clock), awsTariff)
  const archive = createArchive(metered.ports, { clock, limits: LIMITS })
  const run = await StoredRun.begin(archive)
  await run.append(header)
  metered.reset()
  return { clock, metered, archive, run, maintainer: createMaintainer(metered.ports, clock) }
}

/** The kinds that were asked for, and how often. */
function requestsOf({ heads: _heads, ...kinds }: Readings): Record<string, number> {
  const asked = Object.entries(kinds).filter(([, { requests }]) => requests > 0)
  return Object.fromEntries(asked.map(([kind, { requests }]) => [kind, requests]))
}

describe('what is asked of the storage', () => {
  it('by an append are one object and one update of the head, and a look before the first of a process', async () => {
    const { metered, run, clock } = await meteredRun()
    await run.append(say('x'.repeat(4000)))
    const { put, item_write, ...rest } = metered.readings()
    expect(requestsOf({ put, item_write, ...rest })).toEqual({ put: 1, item_write: 1 })
    expect(put.bytes).toBeGreaterThan(4000)
    expect(item_write.units).toBe(1)
    const other = createArchive(metered.ports, { clock, limits: LIMITS })
    metered.reset()
    await other.append(run.key, { offset: run.tail, epoch: run.epoch, bytes: say('y') })
    expect(requestsOf(metered.readings())).toEqual({ put: 1, item_write: 1, item_read: 1 })
  })

  it('by an append that tells the card something are its row, too', async () => {
    const { metered, run } = await meteredRun()
    await run.append(frameOf('{"StatusChanged":{"status":"complete","at":1}}'))
    // The head and, with its row of the listing, the card, which is looked at before.
    expect(requestsOf(metered.readings())).toEqual({ put: 1, item_write: 2, item_read: 1 })
  })

  it('by appends, reads and folds is never a list', async () => {
    const { metered, archive, run, maintainer } = await meteredRun()
    for (let n = 0; n < 70; n++) await run.append(say(`message ${n}`))
    await maintainer.pass()
    for (let n = 0; n < 10; n++) await run.append(say(`more ${n}`))
    metered.reset()
    await run.append(say('the last'))
    await run.send({ offset: 0, bytes: run.bytes.subarray(0, 12) }).catch(() => {})
    await archive.run(run.key)
    await archive.list('default', listQuery.parse({}))
    await archive.leaseState(run.key)
    expect(await run.stored()).toEqual(run.bytes)
    const view = await archive.view(run.key)
    await foldAnswer(view, foldQuery.parse({}))
    await recordsPage(view, { limit: 100 })
    await pointsPage(view, pointsQuery.parse({}))
    await verifyAnswer(view, {})
    const { list, get, item_read } = metered.readings()
    expect(list.requests).toBe(0)
    expect(get.requests).toBeGreaterThan(4)
    expect(item_read.requests).toBeGreaterThan(4)
  })

  it('for a look at what is due is counted apart', async () => {
    const { metered, maintainer } = await meteredRun()
    await maintainer.pass()
    expect(requestsOf(metered.readings())).toEqual({ look: 16 })
  })
})
