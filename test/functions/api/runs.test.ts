import { describe, expect, it } from 'vitest'
import { checkpoint, makeRun, testApi } from './api-kit.ts'

describe('runs', () => {
  it('HEAD tells the position, and the ETag follows the run', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    const head = await root.head(w.path)
    expect(head.text).toBe('')
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'runfold-tail': String(w.tail),
      'runfold-frames': '3',
      'runfold-digest': w.ack.json.digest,
      'runfold-epoch': '1',
    })
    const etag = (await root.get(w.path)).headers.get('etag') as string
    const same = await root.get(w.path, { 'if-none-match': `"x", W/${etag}` })
    expect([same.status, same.text]).toEqual([304, ''])
    await root.append('a', w.tail, 1, checkpoint(9))
    expect((await root.get(w.path, { 'if-none-match': etag })).status).toBe(200)
  })

  it('a deleted run is gone from every read', async () => {
    const { root } = await testApi()
    const w = await makeRun(root, 'a')
    expect((await root.delete(`${w.path}?force=true`)).status).toBe(204)
    for (const path of ['', '/archive', '/records', '/fold', '/points', '/points/0', '/lease']) {
      expect((await root.get(w.path + path)).status).toBe(404)
    }
    expect((await root.get('/v1/runs')).json.items).toEqual([])
  })
})
