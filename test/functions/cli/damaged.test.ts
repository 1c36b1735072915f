import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../../../functions/cli/exit-codes.ts'
import { describeShared, sharedPath } from '../../kit/shared-folder.ts'
import { cliIn, demoBytes } from './kit.ts'

const LINES = [
  ['records'],
  ['records', '--json'],
  ['fold'],
  ['fold', '--entries'],
  ['replay', '--shape', 'delta'],
  ['replay', '--json'],
  ['verify', '--json'],
  ['inspect', '--salvage'],
]

/** How reading a file may end; never `failed`, which is for what nobody foresaw. */
const FORESEEN: readonly number[] = [EXIT.ok, EXIT.notFound, EXIT.damaged, EXIT.badInput]

const expectForeseen = async (bytes: Uint8Array, what: string) => {
  const { run, write, folder } = cliIn()
  write('case.lvr', bytes)
  for (const [verb = '', ...options] of LINES) {
    const { code, err } = await run([verb, join(folder, 'case.lvr'), ...options])
    expect(FORESEEN, `${verb} ${options.join(' ')} of ${what} ended with ${code}: ${err}`).toContain(code)
    expect(err.split('\n').length, err).toBeLessThanOrEqual(3)
  }
}

describe('a damaged archive', () => {
  it('is always explained, wherever a byte is changed or the file is cut', async () => {
    const sound = demoBytes(12)
    await fc.assert(
      fc.asyncProperty(fc.nat(sound.length - 1), fc.nat(255), fc.nat(sound.length), async (at, byte, end) => {
        const bytes = Buffer.from(sound)
        bytes[at] = byte
        await expectForeseen(bytes.subarray(0, Math.max(end, at)), `byte ${at} = ${byte}, cut at ${end}`)
      }),
      { numRuns: 40 },
    )
  })
})

describeShared('the golden archives', () => {
  it('are all read or refused in words', async () => {
    for (const folder of [
      'format/golden/cases/',
      'format/golden/seed/',
      'format/golden/head/',
      'format/inputs/',
    ]) {
      const names = readdirSync(sharedPath(folder)).filter((name) => name.endsWith('.lvr'))
      for (const name of names) await expectForeseen(readFileSync(join(sharedPath(folder), name)), name)
    }
  })
})
