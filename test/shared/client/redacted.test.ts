import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { Redacted } from '#client'

it('a token cannot be printed by accident', () => {
  const token = new Redacted('rf_secret')
  const printed = [
    String(token),
    `${token}`,
    JSON.stringify({ token }),
    inspect(token),
    inspect({ token }, { showHidden: true }),
  ]
  for (const text of printed) {
    expect(text).toContain('<redacted>')
    expect(text).not.toContain('rf_secret')
  }
  expect(token.reveal()).toBe('rf_secret')
})
