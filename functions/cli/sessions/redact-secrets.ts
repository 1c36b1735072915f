import { secretsIn } from '../../daemon/secrets.ts'
import type { Redact } from './redact.ts'

/** Each secret is named by its family; those that overlap are one. */
export const redactSecrets: Redact = async (text) => {
  let redacted = ''
  let at = 0
  for (const { family, start, end } of await secretsIn(text)) {
    if (end <= at) continue
    redacted += `${text.slice(at, Math.max(at, start))}<redacted ${family}>`
    at = end
  }
  return redacted + text.slice(at)
}
