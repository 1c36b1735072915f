/** Bytes that are no UTF-8 become U+FFFD (SESSIONS.md 4.0, 4). */
export function decoded(bytes: Uint8Array): { readonly text: string; readonly valid: boolean } {
  try {
    return { text: strict.decode(bytes), valid: true }
  } catch {
    return { text: lenient.decode(bytes), valid: false }
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
