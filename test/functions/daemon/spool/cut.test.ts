import { fork } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RunLog } from '../../../../functions/daemon/spool/run-log.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'
import { archiveOf, frameOf, RUN } from '../kit.ts'
import { bytesOf, segmentIn, spoolIn, waiting } from './kit.ts'

describe('a spool', () => {
  it('gives back every acknowledged append after its writing was cut at any byte, and goes on behind them', async () => {
    const texts = fc.array(fc.string({ maxLength: 12 }), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(texts, async (all) => {
        const folder = temporaryFolder()
        const sizes: number[] = []
        {
          using spool = await spoolIn(folder)
          for (const [i, text] of all.entries()) {
            const bytes = i === 0 ? archiveOf(text) : frameOf(text)
            await spool.append({ run_id: RUN, offset: spool.end(RUN) ?? 0, bytes })
            sizes.push(spool.size)
          }
        }
        const whole = readFileSync(segmentIn(folder))
        const other = temporaryFolder()
        for (let cut = 0; cut <= whole.length; cut++) {
          writeFileSync(join(other, '0000000000000000.spool'), whole.subarray(0, cut))
          const acked = sizes.filter((size) => size <= cut).length
          const kept = acked === 0 ? Buffer.alloc(0) : archiveOf(...all.slice(0, acked))
          const log = await RunLog.open(other, false)
          expect(await bytesOf(log.all()), `cut at ${cut}`).toEqual(kept)
          const next = acked === 0 ? archiveOf('next') : frameOf('next')
          await log.append(log.end ?? 0, { epoch: 0, bytes: next })
          expect(await bytesOf(log.all())).toEqual(Buffer.concat([kept, next]))
        }
      }),
      { numRuns: 10 },
    )
  })

  it('loses nothing it acknowledged when its process is killed', async () => {
    const folder = temporaryFolder()
    for (let kill = 0; kill < 2; kill++) {
      const child = fork(new URL('./spool-writer.ts', import.meta.url), [folder], { silent: true })
      let acked = 0
      let count = 0
      await new Promise<void>((resolve) => {
        child.on('message', (end) => {
          acked = Number(end)
          if (++count === 30) child.kill('SIGKILL')
        })
        child.once('exit', () => resolve())
      })
      using spool = await spoolIn(folder)
      expect(count).toBeGreaterThanOrEqual(30)
      expect(spool.end(RUN)).toBeGreaterThanOrEqual(acked)
      expect((await waiting(spool)).length).toBe(spool.end(RUN))
    }
  }, 30_000)
})
