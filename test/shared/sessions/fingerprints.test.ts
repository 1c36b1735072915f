import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadDigest } from '#codec'
import { Doubt, Fingerprints } from '../../../shared/sessions/fingerprints.ts'
import { decodeSparse, encodeSparse, hasSparse, mergedSparse } from '../../../shared/sessions/sparse-set.ts'
import { decodeState, STATE_BYTES_MAX, StateWriter } from '../../../shared/sessions/state.ts'
import { derive, heldFiles } from '../../kit/session-files.ts'

await loadDigest()

function reloaded(names: Fingerprints): { readonly names: Fingerprints; readonly bytes: number } {
  const out = new StateWriter()
  const state = out.encode('x', { names: names.save(out) })
  if (state === undefined) throw new Error('the state is over its limit')
  const saved = decodeState(state, 'x')
  if (saved === undefined) throw new Error('the state cannot be read')
  return { names: Fingerprints.load(saved.map('names')), bytes: state.length }
}

describe('fingerprints', () => {
  it('number texts as they come, each once', () => {
    const names = new Fingerprints()
    expect(['a', 'b', 'a', '', 'ab'].map((name) => names.add(name))).toEqual([0, 1, 0, 2, 3])
    expect(names.size).toBe(4)
    expect([names.has('b'), names.has('c')]).toEqual([true, false])
  })

  it('are the same set as the texts', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 6 })), (texts) => {
        const names = new Fingerprints()
        for (const text of texts) names.add(text)
        expect(names.size).toBe(new Set(texts).size)
        const again = reloaded(names).names
        expect(again.size).toBe(names.size)
        for (const text of texts) expect(again.has(text)).toBe(true)
      }),
    )
  })

  it('come out of a state exactly for new names, and in doubt for old ones, never wrong', () => {
    const names = new Fingerprints()
    for (let i = 0; i < 40_000; i++) names.add(`name ${i}`)
    const once = reloaded(names).names
    for (let i = 40_000; i < 60_000; i++) once.add(`name ${i}`)
    const twice = reloaded(once).names
    expect(twice.size).toBe(60_000)
    expect(twice.has('name 59999')).toBe(true)
    expect(() => twice.has('name 0')).toThrow(Doubt)
    expect(() => twice.add('name 39999')).toThrow(Doubt)
    expect(twice.has('another')).toBe(false)
  })

  it('of a million names leave room in a state', () => {
    const names = new Fingerprints()
    for (let i = 0; i < 1_000_000; i++) names.add(`${i}`)
    expect(reloaded(names).bytes).toBeLessThan(0.6 * STATE_BYTES_MAX)
  })
})

describe('a sparse set', () => {
  it('holds what was put in', () => {
    const members = fc.array(fc.nat({ max: 2 ** 31 - 1 }).map((n) => n * 32 + (n % 31)))
    fc.assert(
      fc.property(members, members, (some, more) => {
        const merged = mergedSparse(
          mergedSparse(new Float64Array(0), Float64Array.from(some)),
          Float64Array.from(more),
        )
        const decoded = decodeSparse(encodeSparse(merged))
        expect([...decoded]).toEqual([...new Set([...some, ...more])].sort((a, b) => a - b))
        for (const member of some) expect(hasSparse(decoded, member)).toBe(true)
        expect(hasSparse(decoded, 2 ** 36 - 1)).toBe(false)
      }),
    )
  })
})

describe('a row that repeats one of long ago', () => {
  const row = (uuid: number, parent: number) =>
    `{"type":"user","uuid":"${uuid}","parentUuid":"${parent}","message":{"content":"x"}}\n`
  const first = Array.from({ length: 17_000 }, (_, i) => row(i, Math.max(0, i - 1))).join('')
  const at = (text: string) => {
    const bytes = new TextEncoder().encode(text)
    return { harness: 'claude-code', id: 's', files: heldFiles(new Map([['s.jsonl', { bytes }]])) } as const
  }

  it('makes the derivation begin anew, behind what it had given already', async () => {
    const before = await derive(at(first))
    const more = Array.from({ length: 300 }, (_, i) => row(20_000 + i, i === 0 ? 16_999 : 19_999 + i)).join(
      '',
    )
    const second = `${first}${more}${row(0, 0)}`
    const made = await derive(at(second), before)
    const full = await derive(at(second))
    expect(made.reused.messages).toBe(17_000)
    expect(Buffer.compare(made.document, full.document)).toBe(0)
    expect(made.sha256).toBe(full.sha256)
    expect(made.card.message_count).toBe(17_301)
    expect(made.counters.records_parsed).toBe(17_301 + 301)
  })

  it('is the only thing that does', async () => {
    const before = await derive(at(first))
    const made = await derive(at(`${first}${row(17_000, 16_999)}`), before)
    expect(made.counters.records_parsed).toBe(1)
  })
})
