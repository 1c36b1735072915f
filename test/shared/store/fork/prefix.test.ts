import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { walkFrames } from '#codec'
import { createMaintainer, foldAnswer } from '#store'
import { SNAPSHOT_POLICY } from '../../../../shared/store/maintain/snapshot-policy.ts'
import { plainHeader } from '../../../kit/plain-header.ts'
import { frameOf, StoredRun, say, sha256 } from '../../../kit/stored-run.ts'
import { DAY, FORK, ForkKit, OWNER } from './kit.ts'

const status = (word: string) => frameOf(`{"StatusChanged":{"status":"${word}","at":1}}`)
const header = frameOf(JSON.stringify(plainHeader()))

let kit: ForkKit
beforeEach(async () => {
  kit = await ForkKit.begin()
})

describe('a fork', () => {
  it.each(['without snapshots', 'with snapshots'])(
    'at any seq is the first frames, and the head of one that appended just these (%s)',
    async (kind) => {
      const frames = [
        header,
        say('a'),
        frameOf('junk'),
        status('complete'),
        say('b'),
        status('running'),
        say('c'),
      ]
      for (const frame of frames) await kit.source.append(frame)
      if (kind === 'with snapshots') {
        await kit.archive.release(kit.source.key, kit.source.epoch)
        await createMaintainer(kit.ports, kit.clock, {
          snapshots: { ...SNAPSHOT_POLICY, everyBytes: 1, mergedBytes: 1 },
        }).pass()
        expect((await kit.headOf('run')).snapshot).not.toBeNull()
      }
      const ends = [...walkFrames(kit.source.bytes.subarray(6), { offset: 6 })].map(
        ({ offset, length }) => offset + length,
      )
      for (let seq = 0; seq <= frames.length; seq++) {
        const run = await kit.forked(seq, `fork-${seq}`)
        expect(run.tail).toBe(seq === 0 ? 6 : ends[seq - 1])
        expect(await run.stored()).toEqual(run.bytes)

        const plain = await StoredRun.begin(kit.archive, `plain-${seq}`, OWNER.machine_id)
        await plain.append(...frames.slice(0, seq))
        expect(await kit.countsOf(`fork-${seq}`)).toEqual(await kit.countsOf(`plain-${seq}`))
        expect(await kit.cardOf(`fork-${seq}`)).toEqual(await kit.cardOf(`plain-${seq}`))

        await run.append(say('on'))
        expect(run.bytes.length).toBe((await kit.headOf(`fork-${seq}`)).tail)
        expect((await kit.headOf(`fork-${seq}`)).digest).toBe(sha256(run.bytes))
      }
    },
  )

  it('of a run that begins without a Header has no points either', async () => {
    const point = frameOf(
      '{"ContextCheckpoint":{"snapshot":{"stage_name":"s","total_tokens":0,"max_tokens":0,"regions":[]},"at":1}}',
    )
    await kit.source.append(say('no Header'), point, header, point)
    expect(await kit.fork(2)).toMatchObject({ frames: 2, points: 0 })
  })

  it('of an empty run is an empty run', async () => {
    expect(await kit.fork(0)).toMatchObject({ tail: 0, frames: 0 })
    expect(await kit.objectsOf('fork')).toBe(0)
    expect(await kit.fork(0)).toMatchObject({ tail: 0, epoch: 1 })
  })

  it('folds to the state its source had', async () => {
    await kit.source.append(header, say('a'), status('complete'), say('b'))
    await kit.fork(3)
    const state = async (run_id: string) =>
      JSON.stringify(
        (await foldAnswer(await kit.archive.view({ tenant: 'default', run_id }), { seq: 3 })) as object,
      )
    expect((await state('fork')).replace('"fork"', '"run"')).toBe(await state('run'))
  })

  it('and its source go on apart, whatever is merged or deleted of either', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('source', 'fork', 'twig', 'pass', 'day', 'remove'), { maxLength: 30 }),
        async (steps) => {
          kit = await ForkKit.begin()
          for (let i = 0; i < 40; i++) await kit.source.append(say(`${i}`))
          const maintainer = createMaintainer(kit.ports, kit.clock)
          const branch = await kit.forked(30)
          const twig = new StoredRun(kit.archive, 'twig', OWNER.machine_id)
          const { epoch, tail } = await kit.archive.fork(branch.key, { seq: 20, run_id: 'twig', ...OWNER })
          Object.assign(twig, { epoch, bytes: branch.bytes.slice(0, tail) })
          const runs = new Map([
            ['source', kit.source],
            ['fork', branch],
            ['twig', twig],
          ])
          for (const step of steps) {
            if (step === 'pass') await maintainer.pass()
            else if (step === 'day') kit.clock.advance(DAY)
            else if (step === 'remove') {
              const [first] = runs.keys()
              if (runs.size > 1 && first) {
                await kit.archive.remove((runs.get(first) as StoredRun).key, { force: true })
                runs.delete(first)
              }
            } else await runs.get(step)?.append(say(step))
            for (const run of runs.values()) expect(await run.stored()).toEqual(run.bytes)
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  it('of large extents is copied inside the storage', async () => {
    for (const size of [6 << 20, 100, 9 << 20]) await kit.source.append(frameOf(new Uint8Array(size)))
    let travelled = 0
    const { get, compose } = kit.ports.objects
    const copied: number[] = []
    kit.ports.objects.compose = async (key, parts, facts) => {
      for (const part of parts) if ('copy' in part) copied.push(part.range.end - part.range.start)
      return compose(key, parts, facts)
    }
    kit.ports.objects.get = async (key, range) => {
      const bytes = await get(key, range)
      travelled += bytes?.length ?? 0
      return bytes
    }
    await kit.fork(3)
    expect(copied).toEqual([6 + 8 + (6 << 20), 8 + (9 << 20)])
    expect(travelled).toBe(108)
    kit.ports.objects.get = get
    const view = await kit.archive.view(FORK)
    const [extent] = Object.values(view.head.extents)
    expect(extent?.hash).toMatch(/^x/)
    expect(view.head.digest).toBe(sha256(kit.source.bytes))
  })
})

it('damage is not forked under a hash that fits it', async () => {
  await kit.source.append(say('a'), say('b'))
  for await (const { key } of kit.ports.objects.list('runs/default/run/')) {
    const bytes = (await kit.ports.objects.get(key)) as Uint8Array
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1
    await kit.ports.objects.put(key, [bytes], {})
  }
  await expect(kit.fork(2)).rejects.toMatchObject({ code: 'internal' })
})

it('what cannot be forked says why', async () => {
  await kit.source.append(say('a'))
  await expect(kit.fork(2)).rejects.toMatchObject({
    code: 'range_not_satisfiable',
    facts: { tail: kit.source.tail },
  })
  await expect(
    kit.archive.fork({ tenant: 'default', run_id: 'none' }, { seq: 0, run_id: 'fork', ...OWNER }),
  ).rejects.toMatchObject({ code: 'not_found' })
  expect(await kit.headOf()).toBeUndefined()
})
