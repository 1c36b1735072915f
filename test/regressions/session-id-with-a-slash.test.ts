import { expect, it } from 'vitest'
import { laptop } from '../functions/daemon/sync/kit.ts'

// The daemon took an id with a slash from a rollout, and no route had its path: the session failed for ever, and every sync.

it('a session whose id no URL can hold is told as left out, and fails nothing', async () => {
  const { write, sync } = await laptop()
  const rollout = (id: string) =>
    `${JSON.stringify({ type: 'session_meta', timestamp: '2026-11-02T09:00:00Z', payload: { id } })}\n`
  const ids = ['../../x', 'a/b', 'a\\b', 'fine']
  for (const [i, id] of ids.entries()) write(`.codex/sessions/2026/11/02/rollout-${i}.jsonl`, rollout(id))
  const { outcomes, unread } = await sync()
  expect(outcomes).toEqual({ fine: 'archived' })
  expect(unread.map(({ reason }) => reason)).toEqual(Array(3).fill('a session id holds no / and no \\'))
})
