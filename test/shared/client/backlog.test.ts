import { describe, expect, it } from 'vitest'
import { Backlog } from '../../../shared/client/backlog.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

describe('what waits to be acknowledged', () => {
  it('is cut at any position, also within a piece', () => {
    for (let tail = 10; tail <= 16; tail++) {
      const backlog = new Backlog(10)
      backlog.add(bytes(0, 1, 2))
      backlog.add(bytes(3))
      backlog.add(bytes(4, 5))
      backlog.dropTo(tail)
      expect([backlog.start, backlog.end, backlog.bytes]).toEqual([tail, 16, 16 - tail])
      expect(backlog.slice(tail, 16)).toEqual(bytes(0, 1, 2, 3, 4, 5).subarray(tail - 10))
      backlog.add(bytes(6))
      expect(backlog.slice(16, 17)).toEqual(bytes(6))
    }
  })

  it('is forgotten at once however many pieces an outage has left', () => {
    const backlog = new Backlog(0)
    for (let i = 0; i < 200_000; i++) backlog.add(bytes(1))
    const began = performance.now()
    backlog.dropTo(100_000)
    backlog.dropTo(200_000)
    // Piece by piece it took some ten seconds, in which no lease could be renewed.
    expect(performance.now() - began).toBeLessThan(1000)
    expect(backlog.bytes).toBe(0)
  })
})
