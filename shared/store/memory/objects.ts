import { concat } from '../../codec/index.ts'
import { RunfoldError } from '../../schema/index.ts'
import type { Clock, ComposePart, ObjectFacts, Objects } from '../ports.ts'

interface Kept {
  readonly bytes: Uint8Array
  readonly facts: ObjectFacts
  readonly stored_at: number
  readonly etag: string
}

/** The reference: objects are what a Map holds. */
export function memoryObjects(clock: Clock): Objects {
  const kept = new Map<string, Kept>()
  let puts = 0

  const keep = (key: string, chunks: readonly Uint8Array[], facts: ObjectFacts) => {
    kept.set(key, { bytes: concat(chunks), facts, stored_at: clock.now(), etag: `${++puts}` })
  }
  const bytesOf = (part: ComposePart) => {
    if ('bytes' in part) return part.bytes
    const source = kept.get(part.copy)
    if (!source) throw new RunfoldError('not_found', 'a source of the composition is gone')
    return source.bytes.subarray(part.range.start, part.range.end)
  }

  return {
    put: async (key, chunks, facts) => keep(key, chunks, facts),
    get: async (key, range) => {
      const bytes = kept.get(key)?.bytes
      if (!bytes) return undefined
      if (range && range.end > bytes.length) {
        throw new RunfoldError(
          'internal',
          `an object holds ${bytes.length} bytes, ${range.end} were expected`,
        )
      }
      return bytes.slice(range?.start, range?.end)
    },
    tagged: async (key, { start, end }) => {
      const found = kept.get(key)
      if (!found) return undefined
      const { bytes, etag } = found
      return { bytes: bytes.slice(start, end), etag, length: bytes.length }
    },
    compose: async (key, parts, facts) => keep(key, parts.map(bytesOf), facts),
    remove: async (keys) => keys.forEach((key) => void kept.delete(key)),
    async *list(prefix) {
      for (const key of [...kept.keys()].sort()) {
        const object = kept.get(key)
        if (object && key.startsWith(prefix)) {
          yield { key, length: object.bytes.length, stored_at: object.stored_at }
        }
      }
    },
    facts: async (key) => kept.get(key)?.facts,
  }
}
