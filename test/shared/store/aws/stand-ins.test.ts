import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { portsOf, startStandIns } from '../../../kit/stand-ins.ts'

it('stand-ins in a folder come back with what they held', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runfold-stand-ins-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const transfer = {
    epoch: 1,
    machine_id: 'm',
    world_id: 'w',
    from: '2026-11-30T00:00:00.000Z',
    reason: 'acquired',
  }
  const run = { tenant: 'default', run_id: 'run-1' }
  for (const round of [1, 2]) {
    const standIns = await startStandIns(folder)
    const { objects, index, close } = portsOf(standIns)
    if (round === 1) {
      await objects.put('a/b', [new Uint8Array([1, 2, 3])], { epoch: '1' })
      await index.putTransfer(run, transfer as never)
    }
    expect(await objects.get('a/b', { start: 1, end: 3 })).toEqual(new Uint8Array([2, 3]))
    expect(await objects.facts('a/b')).toEqual({ epoch: '1' })
    expect(await index.transfers(run, 9)).toEqual([transfer])
    close()
    await standIns.stop()
  }
})
