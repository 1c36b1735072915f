import { beforeEach, expect, it } from 'vitest'
import { createMaintainer } from '#store'
import { say } from '../../../kit/stored-run.ts'
import { FORK, ForkKit } from './kit.ts'

let kit: ForkKit
beforeEach(async () => {
  kit = await ForkKit.begin()
})

it('a fork stores its bytes again where a sweep came between', async () => {
  for (let i = 0; i < 10; i++) await kit.source.append(say(`${i}`))
  const { compose } = kit.ports.objects
  kit.ports.objects.compose = async (...args) => {
    await compose(...args)
    kit.ports.objects.compose = compose
    await kit.ports.index.commit(FORK, {}, { set: { sweep: 5 } })
  }
  const run = await kit.forked(7)
  expect(await run.stored()).toEqual(run.bytes)
  expect(Object.values((await kit.headOf()).extents)).toMatchObject([{ sweep: 5 }])
})

it('a fork finds bytes that were merged and swept while it began', async () => {
  for (let i = 0; i < 40; i++) await kit.source.append(say(`${i}`))
  const { commit } = kit.ports.index
  const maintainer = createMaintainer(kit.ports, kit.clock)
  kit.ports.index.commit = async (...args) => {
    kit.ports.index.commit = commit
    const made = await commit(...args)
    await kit.archive.release(kit.source.key, kit.source.epoch)
    await maintainer.pass()
    kit.clock.advance(2 * 3_600_000)
    await maintainer.pass()
    return made
  }
  const run = await kit.forked(35)
  expect(await run.stored()).toEqual(run.bytes)
})
