import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTokens, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { cliIn } from './kit.ts'

it('token first makes a token with all scopes in a store that no server has opened', async () => {
  const { folder, run } = cliIn()
  const data = join(folder, 'data')
  const { code, out, err } = await run(`token first --data ${data}`)
  expect(code).toBe(0)
  expect(out).toMatch(/^rf_[\w-]{43}\n$/)
  expect(err).toContain('shown this once')
  const store = await openLocalStore(data)
  const tokens = createTokens(store.ports.tokens, systemClock)
  expect(await tokens.check(out.trim())).toMatchObject({ tenant: 'default', run_prefix: null })
  store.close()

  const second = await run(`token first --data ${data} --json`)
  expect(second.lines[0]?.token).toMatch(/^rf_/)
  expect(second.lines[0]?.token).not.toBe(out.trim())
})
