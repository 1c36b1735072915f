import { loadDigest } from '../codec/index.ts'
import type { Derivation, Derived, TranscriptRequest } from './adapter.ts'
import { Doubt } from './fingerprints.ts'
import { adapterOf } from './harnesses.ts'
import type { Adapter } from './parser.ts'
import { type Resumed, resumable } from './resume.ts'
import { Run } from './run.ts'

/**
 * Derives the canonical document of one transcript: in full, or from `state` on where that still stands. Both give the same
 * bytes. Memory holds one record, what the harness holds back at the end of the file, and a few bytes for every message.
 */
export async function deriveTranscript(request: TranscriptRequest): Promise<Derivation> {
  await loadDigest()
  const adapter = adapterOf(request.harness)
  const from = request.state && (await resumable(request, adapter, request.state))
  let derived: Derived | undefined
  return {
    reused: { bytes: from?.written.bytes ?? 0, messages: from?.written.messages ?? 0 },
    document: (async function* () {
      derived = yield* from ? resumed(request, adapter, from) : new Run(request, adapter).document()
    })(),
    outcome: () => {
      if (derived === undefined) throw new Error('the document has not been taken to its end')
      return derived
    },
  }
}

/**
 * Goes on from a state for as long as that is exact. If it is not any more, the whole is derived, and what has been given of it
 * already, the same bytes, is left out.
 */
async function* resumed(
  request: TranscriptRequest,
  adapter: Adapter,
  from: Resumed,
): AsyncGenerator<Uint8Array, Derived> {
  const run = new Run(request, adapter, from)
  let given = from.written.bytes
  try {
    const chunks = run.document()
    for (;;) {
      const { done, value } = await chunks.next()
      if (done) return value
      given += value.length
      yield value
    }
  } catch (error) {
    if (!(error instanceof Doubt)) throw error
  }
  const whole = yield* behind(given, new Run(request, adapter).document())
  const { records_parsed, raw_bytes_read } = run.work
  const { counters } = whole
  return {
    ...whole,
    counters: {
      ...counters,
      records_parsed: counters.records_parsed + records_parsed,
      raw_bytes_read: counters.raw_bytes_read + raw_bytes_read,
    },
  }
}

async function* behind(
  offset: number,
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, Derived>,
): AsyncGenerator<Uint8Array, Derived> {
  let left = offset
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) return value
    const skipped = Math.min(left, value.length)
    left -= skipped
    if (skipped < value.length) yield value.subarray(skipped)
    else value.buffer.transfer(0) // or all that is left out would wait for the collector
  }
}
