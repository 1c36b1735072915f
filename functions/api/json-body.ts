import { notIJson } from './i-json.ts'
import { badRequest } from './issues.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A JSON body as plain values; its schema is strict, so `__proto__` and other surprises are refused there. The body is
 * at most MAX_JSON_BYTES long, which also bounds its depth; requests hold no numbers that a double would round.
 *
 * @throws bad_request where it is not UTF-8, not JSON, names a member twice, or escapes half a surrogate pair
 */
export function readJson(bytes: Uint8Array): unknown {
  const { text, value } = decoded(bytes)
  const issue = notIJson(text)
  if (issue) throw badRequest([issue])
  return value
}

function decoded(bytes: Uint8Array): { text: string; value: unknown } {
  try {
    const text = utf8.decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    throw badRequest([{ path: '', message: 'the body is not JSON' }])
  }
}
