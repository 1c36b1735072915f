import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { fileAppendAnswer, sessionFiles, sessionsAnswer } from '#schema'
import { type TestClient, testApi } from './api-kit.ts'

const ROW = `{"type":"user","uuid":"u1","cwd":"/work","message":{"role":"user","content":"hello"}}\n`
const SESSION = '/v1/sessions/claude-code/sid'
const sha256 = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex')

const api = () => testApi({ features: ['sessions'] })
const append = (client: TestClient, text: string | Uint8Array, query: Record<string, string> = {}) => {
  const asked = new URLSearchParams({
    machine: 'box',
    path: 'sid.jsonl',
    generation: '1',
    offset: '0',
    ...query,
  })
  const headers: Record<string, string> = { 'content-type': 'application/octet-stream' }
  if (typeof text !== 'string') headers['content-encoding'] = 'gzip'
  return client.send('POST', `${SESSION}/files?${asked}`, { headers, body: text })
}

describe('the session routes', () => {
  it('answer as they are documented', async () => {
    const { root } = await api()
    const answer = await append(root, ROW)
    expect(fileAppendAnswer.parse(answer.json)).toEqual(answer.json)
    expect(answer.json).toEqual({
      ...{ tail: ROW.length, digest: sha256(ROW), generation: 1, replayed: false },
      ...{ outcome: 'archived', problems: 0 },
    })
    const files = await root.get(`${SESSION}/files`)
    expect(sessionFiles.parse(files.json)).toEqual(files.json)
    const list = await root.get('/v1/sessions?q=HELL&cwd=/work')
    expect(sessionsAnswer.parse(list.json)).toEqual(list.json)
    expect(list.json.items).toHaveLength(1)
    expect((await root.get('/v1/sessions?cwd=/wor')).json.items).toEqual([])
  })

  it('give the document under its own digest, whole, in ranges, or not at all when it is known', async () => {
    const { root } = await api()
    await append(root, gzipSync(ROW))
    const whole = await root.get(`${SESSION}?machine=box`)
    const etag = `"${sha256(whole.text)}"`
    expect(whole.headers.get('etag')).toBe(etag)
    expect(whole.headers.get('content-type')).toBe('application/json')
    expect((await root.get(SESSION, { 'if-none-match': etag })).status).toBe(304)
    const part = await root.get(SESSION, { range: 'bytes=4-9' })
    expect([part.status, part.text]).toEqual([206, whole.text.slice(4, 10)])
    const head = await root.head(SESSION)
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      `${whole.text.length}`,
    ])
  })

  it('give raw bytes verbatim, of any generation', async () => {
    const { root } = await api()
    await append(root, ROW)
    await append(root, 'next', { generation: '2' })
    const raw = `${SESSION}/files/raw?path=sid.jsonl`
    expect((await root.get(raw)).text).toBe('next')
    const first = await root.get(`${raw}&generation=1`)
    expect(first.text).toBe(ROW)
    expect(first.headers.get('etag')).toBe(`"${sha256(ROW)}"`)
    expect((await root.get(`${raw}&generation=1`, { range: 'bytes=-5' })).text).toBe(ROW.slice(-5))
    expect((await root.get(`${raw}&generation=3`)).json.code).toBe('not_found')
    expect((await root.get(`${raw}&generation=0`)).json.code).toBe('bad_request')
  })

  it('ask for the machine where several have the session', async () => {
    const { root } = await api()
    await append(root, ROW)
    expect((await root.get(SESSION)).status).toBe(200)
    await append(root, ROW, { machine: 'laptop' })
    for (const path of [SESSION, `${SESSION}/files`, `${SESSION}/files/raw?path=sid.jsonl`]) {
      const { status, json } = await root.get(path)
      expect([status, json.code]).toEqual([400, 'bad_request'])
      expect(JSON.stringify(json.issues)).toMatch(/box.*laptop/)
    }
    expect((await root.delete(SESSION)).status).toBe(400)
    expect((await root.delete(`${SESSION}?machine=box`)).status).toBe(204)
    expect((await root.get(SESSION)).status).toBe(200)
  })

  it('show nothing to a token that is bound to runs of a prefix', async () => {
    const { root, as, token } = await api()
    await append(root, ROW)
    const bound = as((await token(['append', 'read', 'resume', 'admin'], { run_prefix: 'r' })).token)
    for (const answer of [
      await append(bound, ROW),
      await bound.get('/v1/sessions'),
      await bound.get(SESSION),
      await bound.get(`${SESSION}/files`),
      await bound.get(`${SESSION}/files/raw?path=sid.jsonl`),
      await bound.delete(SESSION),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([403, 'forbidden'])
    }
  })

  it('put who read and who deleted on record', async () => {
    const { root, events } = await api()
    await append(root, ROW)
    await root.get(`${SESSION}/files/raw?path=sid.jsonl`)
    await root.delete(SESSION)
    expect(events.flatMap(({ audit, subject }) => (audit ? [[audit, subject]] : []))).toEqual([
      ['session.read', 'box/claude-code/sid'],
      ['session.delete', 'box/claude-code/sid'],
    ])
  })

  it('refuse a range larger than the platform lets through', async () => {
    const { root } = await testApi({ features: ['sessions'], maxAnswerBytes: 20 })
    await append(root, ROW)
    expect((await root.get(SESSION)).json).toMatchObject({ code: 'too_large', max_answer_bytes: 20 })
    const part = await root.get(`${SESSION}/files/raw?path=sid.jsonl`, { range: 'bytes=10-' })
    expect([part.status, part.text]).toEqual([206, ROW.slice(10, 30)])
  })
})
