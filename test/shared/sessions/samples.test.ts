import { describe, expect, it } from 'vitest'
import { jsonText, parseJson } from '#codec'
import { deriveEntry } from '#sessions'
import { type Document, derive, type Held, heldFiles } from '../../kit/session-files.ts'
import { type Expected, type Sample, type SampleStep, sessionSamples } from '../../kit/session-samples.ts'
import { describeShared, hasShared } from '../../kit/shared-folder.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function request(
  sample: Sample,
  step: SampleStep,
  { id, agent, alone }: Expected,
  generations?: Generations,
) {
  const filesOf = (session: string) => {
    const held = step.sessions.get(session)
    return held && heldFiles(generations ? generations.of(session, held) : held)
  }
  const files = filesOf(id)
  if (files === undefined) throw new Error(`no session ${id}`)
  const ancestor = async (session: string) => (alone ? undefined : filesOf(session))
  return { harness: sample.harness, id, agent, files, ancestor }
}

/** Numbers the generations of files from step to step, as a daemon would. */
class Generations {
  readonly #last = new Map<string, { bytes: Uint8Array; generation: number }>()

  of(session: string, held: Held): Held {
    return new Map(
      Array.from(held, ([path, { bytes }]) => {
        const name = `${session}\n${path}`
        const last = this.#last.get(name)
        const goesOn = last && Buffer.compare(bytes.subarray(0, last.bytes.length), last.bytes) === 0
        const file = { bytes, generation: (last?.generation ?? 0) + (goesOn ? 0 : 1) }
        this.#last.set(name, file)
        return [path, file]
      }),
    )
  }
}

describeShared('the samples', () => {
  for (const sample of hasShared ? sessionSamples() : []) {
    describe(sample.name, () => {
      for (const step of sample.steps) {
        for (const expected of step.documents) {
          it(`${step.step}: ${expected.name} derived in full`, async () => {
            const made = await derive(request(sample, step, expected))
            expect(text(made.document)).toBe(text(expected.bytes))
            expect(made).toMatchObject({
              bytes: expected.bytes.length,
              stable_messages: expected.stable_messages,
              stable_bytes: expected.stable_bytes,
            })
            if (expected.entry === undefined) return
            expect(parseJson(jsonText(deriveEntry(made)))).toEqual(parseJson(expected.entry))
          })
        }
      }

      it('step by step, with no more work than must be', async () => {
        const before = new Map<string, Document>()
        const generations = new Generations()
        for (const step of sample.steps) {
          for (const expected of step.documents) {
            const made = await derive(request(sample, step, expected, generations), before.get(expected.name))
            expect(text(made.document)).toBe(text(expected.bytes))
            expect(made.stable_bytes).toBe(expected.stable_bytes)
            expect(made.reused).toEqual(expected.reused)
            const { messages_parsed, messages_reused } = made.counters
            expect(messages_parsed + messages_reused).toBe(made.card.message_count)
            before.set(expected.name, made)
          }
        }
      })
    })
  }
})
