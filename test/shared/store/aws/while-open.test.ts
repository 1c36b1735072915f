import { describe, expect, it } from 'vitest'
import { createMaintainer, type StorePorts, type UploadPlace } from '#store'
import { memoryPorts } from '#store/memory'
import { whileOpen } from '../../../../shared/store/aws/while-open.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const MINUTE = 60_000
const PLACE = { key: 'runs/default/run/k', storage_id: 's' }

function started() {
  const clock = manualClock()
  const memory = memoryPorts(clock)
  const aborted: UploadPlace[] = []
  const uploads = { ...memory.uploads, abort: async (place: UploadPlace) => void aborted.push(place) }
  const ports: StorePorts = { ...memory, uploads }
  const index = ports.uploadIndex
  const maintain = () => createMaintainer(ports, clock).pass()
  const listed = () => index.expired(Number.MAX_SAFE_INTEGER, 99)
  return { clock, index, log: { index, clock }, aborted, maintain, listed }
}

describe('an upload of our own', () => {
  it('is written down before its first part and forgotten when it is complete', async () => {
    const { log, listed } = started()
    await whileOpen(log, PLACE, async () => {
      expect(await listed()).toMatchObject([PLACE])
    })
    expect(await listed()).toEqual([])
  })

  it('is never aborted while parts of it arrive, however long it takes', async () => {
    const { clock, log, aborted, maintain } = started()
    await whileOpen(log, PLACE, async (goesOn) => {
      for (let part = 0; part < 50; part++) {
        clock.advance(29 * MINUTE)
        await maintain()
        await goesOn()
      }
    })
    expect(aborted).toEqual([])
  })

  it('is written down again only when half its time is over', async () => {
    const { clock, log, index } = started()
    let puts = 0
    const counted = { ...index, putParts: async () => void puts++ }
    await whileOpen({ ...log, index: counted }, PLACE, async (goesOn) => {
      for (let minute = 0; minute < 89; minute++) {
        clock.advance(MINUTE)
        await goesOn()
      }
    })
    expect(puts).toBe(1 + 2)
  })

  it('is aborted by the next pass after an hour of silence, once', async () => {
    const { clock, log, aborted, maintain, listed } = started()
    const dead = new Promise<void>(() => {})
    void whileOpen(log, PLACE, () => dead)
    await Promise.resolve()
    clock.advance(60 * MINUTE - 1)
    await maintain()
    expect(aborted).toEqual([])
    clock.advance(1)
    await maintain()
    await maintain()
    expect(aborted).toMatchObject([PLACE])
    expect(await listed()).toEqual([])
  })

  it('that failed stays written down, for a part may arrive after the abort', async () => {
    const { log, listed } = started()
    const failed = whileOpen(log, PLACE, () => Promise.reject(new Error('broken')))
    await expect(failed).rejects.toThrow('broken')
    expect(await listed()).toMatchObject([PLACE])
  })

  it('that could not be written down is not filled', async () => {
    const { log, index } = started()
    const broken = { ...index, putParts: () => Promise.reject(new Error('broken')) }
    const filled = whileOpen({ ...log, index: broken }, PLACE, () => expect.unreachable())
    await expect(filled).rejects.toThrow('broken')
  })

  it('is complete although it cannot be forgotten', async () => {
    const { log, index } = started()
    const broken = { ...index, removeParts: () => Promise.reject(new Error('broken')) }
    await whileOpen({ ...log, index: broken }, PLACE, async () => {})
  })
})
