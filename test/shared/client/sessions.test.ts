import { expect, it } from 'vitest'
import { startServer } from './kit.ts'

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const utf8 = (line: string) => new TextEncoder().encode(line)
const NAME = { harness: 'claude-code', id: 'sid', machine: 'box' } as const
const ROW = `{"type":"user","uuid":"u1","message":{"role":"user","content":"hello ü"}}\n`

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return text(Buffer.concat(all))
}

it('a session goes up in slices and comes back as files, document and entry', async () => {
  const { client } = await startServer(undefined, ['sessions'])
  const bytes = utf8(ROW)
  const slice = { path: 'sid.jsonl', generation: 1 }
  await client.appendFile(NAME, { ...slice, offset: 0, bytes: bytes.subarray(0, 30) })
  const rest = { ...slice, offset: 30, bytes: bytes.subarray(30) }
  expect(await client.appendFile(NAME, rest)).toMatchObject({ tail: bytes.length, outcome: 'archived' })
  expect(await client.appendFile(NAME, rest)).toMatchObject({ replayed: true, outcome: 'skipped' })

  const { items } = await client.sessions({ machine: 'box' })
  expect(items).toMatchObject([{ id: 'sid', title: 'hello ü', message_count: 1, machine: 'box' }])
  const { sha256, chunks } = await client.sessionDocument({ harness: NAME.harness, id: NAME.id })
  expect(sha256).toBe(items[0]?.document?.sha256)
  expect(JSON.parse(await joined(chunks))).toMatchObject({ schema: 1, messages: [{ id: 'u1' }] })
  expect((await client.sessionFiles(NAME)).items).toMatchObject([{ path: 'sid.jsonl', current: true }])
  const whole = await client.sessionRaw(NAME, { path: 'sid.jsonl' })
  expect(await joined(whole.chunks)).toBe(ROW)
  const tail = await client.sessionRaw(NAME, { path: 'sid.jsonl', generation: 1, from: 30 })
  expect([tail.start, await joined(tail.chunks)]).toEqual([30, text(bytes.subarray(30))])

  expect(await client.verifySession(NAME)).toMatchObject({ ok: true, files: 1, repaired: [] })
  await client.removeSession(NAME)
  await expect(client.sessionFiles(NAME)).rejects.toMatchObject({ code: 'not_found' })
})
