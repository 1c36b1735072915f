import { describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, type Head, type StorePorts } from '#store'
import { derivedKey, parseNoteKey } from '../../../../shared/store/keys.ts'
import { LIMITS, objectKeys, say } from '../../../kit/stored-run.ts'
import { begun, HOUR, KEY } from './kit.ts'

describe('a rebuild of what was maintained', () => {
  it('counts generations on from those of snapshots too', async () => {
    const kit = await begun(3)
    const place = { life: 1, seq: 1, offset: 100, stateBytes: 0, indexBytes: 1, hash: '0123456789abcdef' }
    const key = derivedKey(KEY, { ...place, sweep: 41 })
    await kit.ports.objects.put(key, [new Uint8Array(1)], {})
    await kit.rebuilt()
    expect((await kit.again.index.head(KEY))?.sweep).toBeGreaterThan(41)
  })

  it('loses nothing to a maintenance that dies between any two writes', async () => {
    let isDone = false
    for (let writes = 0; !isDone; writes++) {
      const { run, archive, ports, clock, rebuilt } = await begun(35)
      await createMaintainer(ports, clock).pass()
      for (let n = 0; n < 35; n++) await run.append(say(`more ${n}`))
      await archive.release(run.key, run.epoch)
      // Merged twice, with the grace of the first merges over: everything that maintenance does, up to its last write.
      clock.advance(2 * HOUR)
      const { mortal, hasDied } = dyingAfter(ports, writes)
      await createMaintainer(mortal, clock)
        .pass()
        .catch(() => {})
      isDone = !hasDied()
      expect(await rebuilt(), `died after ${writes} writes`).toMatchObject({
        tail: run.tail,
        frames: 70,
        undecided: [],
        lost: null,
      })
    }
  })

  it('knows the owners whose objects were merged and swept away', async () => {
    const kit = await begun(40)
    const { run, archive, ports, clock, again } = kit
    for (const name of ['second', 'third']) {
      const asked = { machine_id: name, world_id: 'world', force: true }
      run.epoch = (await archive.acquire(KEY, asked)).answer.epoch
      for (let n = 0; n < 40; n++) await run.append(say(`${name} ${n}`))
    }
    const maintainer = createMaintainer(ports, clock, { graceMs: 1000 })
    await maintainer.pass()
    clock.advance(2000)
    await maintainer.pass()
    const head = (await ports.index.head(KEY)) as Head
    expect(await objectKeys(ports)).toHaveLength(Object.keys(head.extents).length)
    const { history } = await archive.leaseState(KEY)
    await kit.rebuilt()
    expect(history.map(({ machine_id }) => machine_id)).toEqual(['third', 'second', 'machine'])
    const after = createArchive(again, { clock, limits: LIMITS })
    expect((await after.leaseState(KEY)).history).toEqual(history)
    expect((await again.index.head(KEY))?.previous).toEqual(head.previous)
  })

  it('goes by an older manifest where the newest is damaged', async () => {
    const kit = await begun(20)
    const { run, archive, ports, clock } = kit
    await archive.release(run.key, run.epoch)
    await createMaintainer(ports, clock).pass()
    for await (const { key } of ports.objects.list('runs/')) {
      const note = parseNoteKey(KEY, key)
      if (note && note.at > 0) await ports.objects.put(key, [say('damage')], {})
    }
    expect(await kit.rebuilt()).toMatchObject({ tail: run.tail, undecided: [], lost: null })
  })
})

/** Memory ports that fail for good after so many writes. */
function dyingAfter(ports: StorePorts, writes: number) {
  let left = writes
  let hasDied = false
  const mortal = <T extends object>(target: T, names: readonly (keyof T)[]): T => {
    const guarded = names.map((name) => {
      const act = target[name] as (...args: unknown[]) => Promise<unknown>
      const tried = async (...args: unknown[]) => {
        if (left-- > 0) return act(...args)
        hasDied = true
        throw new Error('dead')
      }
      return [name, tried]
    })
    return { ...target, ...Object.fromEntries(guarded) }
  }
  const objects = mortal(ports.objects, ['put', 'compose', 'remove'])
  const index = mortal(ports.index, ['commit', 'removeCard', 'putTransfer'])
  return { mortal: { ...ports, objects, index }, hasDied: () => hasDied }
}
