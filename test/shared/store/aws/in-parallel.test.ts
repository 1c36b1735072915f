import { describe, expect, it } from 'vitest'
import { inParallel } from '../../../../shared/store/aws/in-parallel.ts'

describe('work in parallel', () => {
  it('keeps the order of its items and never more than its width under way', async () => {
    let running = 0
    let most = 0
    const doubled = await inParallel(3, [5, 1, 4, 2, 3, 0, 9], async (n) => {
      most = Math.max(most, ++running)
      for (let turn = 0; turn < n; turn++) await Promise.resolve()
      running--
      return n * 2
    })
    expect(doubled).toEqual([10, 2, 8, 4, 6, 0, 18])
    expect(most).toBe(3)
  })

  it('fails only when what was started has ended, and starts nothing more', async () => {
    const ended: number[] = []
    const work = inParallel(2, [0, 1, 2, 3], async (n) => {
      if (n === 0) throw new Error('first')
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      ended.push(n)
    })
    await expect(work).rejects.toThrow('first')
    expect(ended).toEqual([1])
  })
})
