import { badRequest } from './issues.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A JSON body as plain values; its schema is strict, so `__proto__` and other surprises are refused there. The body is
 * at most MAX_JSON_BYTES long, which also bounds its depth; requests hold no numbers that a double would round.
 *
 * @throws bad_request where it is not UTF-8 or not JSON
 */
export function readJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw badRequest([{ path: '', message: 'the body is not JSON' }])
  }
}
