import { digestOf, loadDigest } from '#codec'
import type { Derived, FileVersion, SessionFiles, TranscriptRequest } from '#sessions'
import { deriveTranscript } from '#sessions'

await loadDigest()

/** The newest generations of a session's files, by path. */
export type Held = ReadonlyMap<string, HeldFile>

interface HeldFile {
  readonly bytes: Uint8Array
  readonly generation?: number
}

/** Files in memory, read in chunks of so many bytes. */
export function heldFiles(held: Held, chunkBytes = 65_536): SessionFiles {
  const list = Array.from(held, ([path, { bytes, generation = 1 }]) => ({
    path,
    generation,
    tail: bytes.length,
    digest: digestOf(bytes),
  }))
  return {
    list,
    async *read(file: FileVersion, from: number) {
      const bytes = held.get(file.path)?.bytes ?? new Uint8Array()
      for (let at = from; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
  }
}

export interface Document extends Derived {
  readonly reused: { readonly bytes: number; readonly messages: number }
  /** The whole of it, with the prefix that was reused. */
  readonly document: Uint8Array
}

type Wanted = Omit<TranscriptRequest, 'ancestor'> & Partial<Pick<TranscriptRequest, 'ancestor'>>

/** Derives a document, going on from an earlier one if there is one. */
export async function derive(wanted: Wanted, before?: Document): Promise<Document> {
  const ancestor = wanted.ancestor ?? (async () => undefined)
  const derivation = await deriveTranscript({ state: before?.state, ...wanted, ancestor })
  const parts = [before?.document.subarray(0, derivation.reused.bytes) ?? new Uint8Array()]
  for await (const chunk of derivation.document) parts.push(chunk)
  return { ...derivation.outcome(), reused: derivation.reused, document: Buffer.concat(parts) }
}
