import { loadDigest } from '../codec/index.ts'
import type { Derivation, Derived, TranscriptRequest } from './adapter.ts'
import { adapterOf } from './harnesses.ts'
import { resumable } from './resume.ts'
import { Run } from './run.ts'

/**
 * Derives the canonical document of one transcript: in full, or from `state` on where that still stands. Both give the same
 * bytes. Memory holds one record, what the harness holds back at the end of the file, and a few bytes for every message.
 */
export async function deriveTranscript(request: TranscriptRequest): Promise<Derivation> {
  await loadDigest()
  const adapter = adapterOf(request.harness)
  const from = request.state && (await resumable(request, adapter, request.state))
  const run = new Run(request, adapter, from)
  let derived: Derived | undefined
  return {
    reused: { bytes: from?.written.bytes ?? 0, messages: from?.written.messages ?? 0 },
    document: (async function* () {
      derived = yield* run.document()
    })(),
    outcome: () => {
      if (derived === undefined) throw new Error('the document has not been taken to its end')
      return derived
    },
  }
}
