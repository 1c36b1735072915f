import { expect, it } from 'vitest'
import { createTokens, type Principal } from '#store'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../kit/manual-clock.ts'

// An admin bound to a prefix could list every token of its tenant and revoke the unbound ones, the operator's too: it
// could not widen itself, but it could lock everyone else out.

const clock = manualClock()
const asker = (run_prefix: string | null): Principal => ({
  token_id: 'tok_asker',
  tenant: 'default',
  scopes: ['admin', 'operator'],
  run_prefix,
  expires_at: null,
})

it('a bounded admin sees and revokes tokens within its prefix only', async () => {
  const tokens = createTokens(memoryPorts(clock).tokens, clock)
  const make = (run_prefix?: string) =>
    tokens.make(asker(null), {
      name: String(run_prefix),
      scopes: ['admin'],
      ...(run_prefix && { run_prefix }),
    })
  const [unbound, other, within] = [await make(), await make('your-'), await make('my-own-')]

  const bounded = asker('my-')
  expect((await tokens.list(bounded)).map(({ token_id }) => token_id)).toEqual([within.token_id])
  for (const { token_id } of [unbound, other]) expect(await tokens.revoke(bounded, token_id)).toBe(false)
  expect(await tokens.check(unbound.token)).toBeDefined()
  expect(await tokens.revoke(bounded, within.token_id)).toBe(true)
  expect(await tokens.check(within.token)).toBeUndefined()
})
