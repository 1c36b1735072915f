import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { jsonChunks } from '#codec'
import { bodyOf } from '../../functions/api/stream.ts'
import { BEGINNING, framesFrom } from '../../shared/store/reading/frames.ts'
import { demoBytes } from '../functions/cli/kit.ts'
import { storedRun } from '../shared/store/reading/kit.ts'

// An archive of a million empty frames, 8 MiB in one append, was read in one chain of microtasks: `fold` kept every other
// request waiting for 25 s and an NDJSON stream for minutes, /v1/health too. The stream also took 128 KiB of memory per line.

const TURN_MS = 25

/** A reader that does as much with each frame as a window of many thousand regions makes it do. */
function work(): void {
  for (const until = performance.now() + TURN_MS; performance.now() < until; );
}

describe('while an archive is read', () => {
  it('others have their turn between frames', async () => {
    const { view } = await storedRun(demoBytes(10))
    let turns = 0
    const other = setInterval(() => turns++)
    onTestFinished(() => clearInterval(other))
    for await (const _ of framesFrom(view, BEGINNING)) work()
    expect(turns).toBeGreaterThanOrEqual(9)
  })

  it('others have their turn between the pieces of an answer, however fast its reader is', async () => {
    const pieces = Array.from({ length: 10 }, () => new Uint8Array(100_000))
    let turns = 0
    const count = () => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    onTestFinished(() => clearImmediate(next))
    for await (const _ of bodyOf([], pieces[Symbol.iterator]()) as unknown as AsyncIterable<Uint8Array>);
    expect(turns).toBeGreaterThanOrEqual(9)
  })

  it('a small value takes a small buffer', () => {
    let reserved = 0
    class Counting extends Uint8Array {
      constructor(...given: [number]) {
        super(...given)
        if (typeof given[0] === 'number') reserved += given[0]
      }
    }
    vi.stubGlobal('Uint8Array', Counting)
    onTestFinished(() => void vi.unstubAllGlobals())
    const [line] = [...jsonChunks({ seq: 1, unreadable: 'not_json' })]
    expect(line?.length).toBe(33)
    expect(reserved).toBeLessThan(1000)
  })
})
