import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Document, derive, heldFiles } from '../../kit/session-files.ts'
import { sessionSamples } from '../../kit/session-samples.ts'
import { type Vector, vectors } from '../../kit/session-vectors.ts'
import { describeShared, hasShared } from '../../kit/shared-folder.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** The document of the session when its growing file has so many bytes. */
function at(vector: Vector, length: number, before?: Document): Promise<Document> {
  const { harness, id, path, bytes, beside, others } = vector
  const files = heldFiles(new Map([...beside, [path, { bytes: bytes.subarray(0, length) }]]))
  const ancestor = async (other: string) => {
    const held = others.get(other)
    return held && heldFiles(held)
  }
  return derive({ harness, id, files, ancestor }, before)
}

/** Derives at each of these lengths from the one before, and once more in full. */
async function expectSame(vector: Vector, cuts: readonly number[], whole?: Document): Promise<void> {
  let before: Document | undefined
  for (const length of cuts) {
    const made = await at(vector, length, before)
    if (before) {
      const full = length === vector.bytes.length && whole ? whole : await at(vector, length)
      expect(text(made.document), `appended at ${cuts}`).toBe(text(full.document))
      const { reused: _, counters: __, ...same } = full
      expect(made).toMatchObject(same)
      expect(made.reused.messages).toBe(before.stable_messages)
    }
    before = made
  }
}

/** Every cut where lines are at their oddest; elsewhere, as lines are cut by the same code, those about their ends and some more. */
function cutsOf({ harness, bytes }: Vector): number[] {
  const near = (cut: number) => [-1, 0, 1].some((by) => bytes[cut + by] === 0x0a)
  const all = Array.from({ length: bytes.length + 1 }, (_, cut) => cut)
  return harness === 'claude-code' ? all : all.filter((cut) => cut % 8 === 0 || near(cut))
}

describe('a document that grew is the one derived in full', () => {
  for (const vector of vectors) {
    it(`${vector.name}: cut into two appends`, async () => {
      const whole = await at(vector, vector.bytes.length)
      for (const cut of cutsOf(vector)) await expectSame(vector, [cut, vector.bytes.length], whole)
    }, 120_000)

    it(`${vector.name}: cut into three`, async () => {
      const cut = fc.nat({ max: vector.bytes.length })
      await fc.assert(
        fc.asyncProperty(cut, cut, async (a, b) => {
          await expectSame(vector, [Math.min(a, b), Math.max(a, b), vector.bytes.length])
        }),
        { numRuns: 30 },
      )
    }, 60_000)

    it(`${vector.name}: byte by byte`, async () => {
      const part = { ...vector, bytes: vector.bytes.subarray(0, 400) }
      await expectSame(
        part,
        Array.from(part.bytes, (_, i) => i + 1),
      )
    }, 60_000)
  }
})

describeShared('and so are the samples', () => {
  for (const sample of hasShared ? sessionSamples() : []) {
    const step = sample.steps.at(-1)
    for (const [id, held] of step?.sessions ?? []) {
      const growing = [...held.keys()].filter(
        (path) => path.endsWith('.jsonl') && !path.includes('agents/agent-'),
      )
      const path = growing.find((name) => !name.includes('subagents'))
      const file = path === undefined ? undefined : held.get(path)
      if (path === undefined || file === undefined) continue
      it(`${sample.name}, ${id}`, async () => {
        const others = step?.sessions ?? new Map()
        const { harness } = sample
        const vector = { name: id, harness, id, path, bytes: file.bytes, beside: held, others }
        const cut = fc.nat({ max: file.bytes.length })
        await fc.assert(
          fc.asyncProperty(cut, cut, async (a, b) => {
            await expectSame(vector, [Math.min(a, b), Math.max(a, b), file.bytes.length])
          }),
          { numRuns: 30 },
        )
      }, 60_000)
    }
  }
})
