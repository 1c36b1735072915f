import { writeFileSync } from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { laptop } from '../functions/daemon/sync/kit.ts'

// Of a packed rollout of several frames only the first was archived, and nobody was told.

const ID = 'aaaaaaaa-0000-4000-8000-000000000001'
const NAME = `rollout-2026-11-02T10-00-00-${ID}.jsonl`
const FOLDER = '.codex/sessions/2026/11/02'

const event = (message: string) =>
  `${JSON.stringify({ type: 'event_msg', timestamp: '2026-11-02T09:00:00Z', payload: { type: 'user_message', message } })}\n`
const META = `${JSON.stringify({ type: 'session_meta', timestamp: '2026-11-02T09:00:00Z', payload: { id: ID } })}\n`

const noise = Array.from({ length: 9000 }, (_, i) => event(`${(i * 2654435761) % 4294967296}-${i}`)).join('')

it.each([
  ['short', [META, event('one'), event('two')]],
  ['long', [META + noise, event('two'), noise]],
])('%s frames are archived to the last', async (_, texts) => {
  const { write, path, sync, raw } = await laptop()
  write(`${FOLDER}/${NAME}.zst`, '')
  const pack = (upTo: number) =>
    writeFileSync(
      path(`${FOLDER}/${NAME}.zst`),
      Buffer.concat(texts.slice(0, upTo).map((text) => zstdCompressSync(text))),
    )
  for (const upTo of [1, texts.length]) {
    pack(upTo)
    expect((await sync()).outcomes).toEqual({ [ID]: 'archived' })
    expect((await raw('codex', ID, NAME)).toString()).toBe(texts.slice(0, upTo).join(''))
  }
})
