import { describe, expect, it } from 'vitest'
import { createArchive } from '#store'
import { memoryPorts } from '#store/memory'
import { LOCAL_LIMITS } from '../../../functions/api/limits.ts'
import { steppedClock } from '../../kit/stepped-clock.ts'
import { checkpoint, makeRun, testApi } from './api-kit.ts'

/** An API on a store that signs URLs, where an answer may have so many bytes. */
async function limitedApi(maxAnswerBytes?: number) {
  const clock = steppedClock()
  const ports = memoryPorts(clock)
  const url = async (key: string, name: string, seconds: number) =>
    `https://storage/${key}?${name}&${seconds}`
  const objects = Object.assign(ports.objects, { url })
  const archive = createArchive({ ...ports, objects }, { clock, limits: LOCAL_LIMITS })
  return testApi({ archive, ...(maxAnswerBytes !== undefined && { maxAnswerBytes }) })
}

describe('an archive', () => {
  it('is given by the storage itself where one object holds it', async () => {
    const { root } = await limitedApi()
    const { path, tail, ack } = await makeRun(root, 'whole')
    const { status, headers } = await root.get(`${path}/archive?redirect=true`)
    expect(status).toBe(303)
    expect(headers.get('location')).toMatch(/^https:\/\/storage\/.*whole.*\?whole\.lvr&300$/)
    expect(headers.get('etag')).toBe(`"${ack.json.digest}"`)
    expect((await root.get(`${path}/archive`)).text).toHaveLength(tail)
  })

  it('is given here where several objects hold it', async () => {
    const { root } = await limitedApi()
    const { path, tail, epoch } = await makeRun(root, 'parts')
    await root.append('parts', tail, epoch, checkpoint(4))
    expect((await root.get(`${path}/archive?redirect=true`)).status).toBe(200)
  })

  it('that is larger than an answer may be is refused, and told how to be had', async () => {
    const { root } = await limitedApi(100)
    const { path, tail } = await makeRun(root, 'large')
    const refused = await root.get(`${path}/archive`)
    expect(refused.status).toBe(413)
    expect(refused.json).toMatchObject({ code: 'too_large', max_answer_bytes: 100, tail })
    expect(refused.json.detail).toMatch(/Range.*redirect=true/)
    expect((await root.head(`${path}/archive`)).headers.get('content-length')).toBe(String(tail))
  })

  it('gives the first bytes of a range that is larger than an answer may be', async () => {
    const { root } = await limitedApi(100)
    const { path, tail } = await makeRun(root, 'ranges')
    let at = 0
    let text = ''
    for (let turns = 0; at < tail && turns < 100; turns++) {
      const part = await root.get(`${path}/archive`, { range: `bytes=${at}-${tail - 1}` })
      expect(part.status).toBe(206)
      expect(part.headers.get('content-range')).toBe(`bytes ${at}-${at + part.text.length - 1}/${tail}`)
      expect(part.text.length).toBe(Math.min(100, tail - at))
      text += part.text
      at += part.text.length
    }
    const unlimited = await limitedApi()
    await makeRun(unlimited.root, 'ranges')
    expect(text).toBe((await unlimited.root.get(`${path}/archive`)).text)
  })
})

describe('what an operator may have to account for', () => {
  it('is on record with who did it, whether it was done or refused', async () => {
    const { root, events, withScopes } = await testApi()
    const { path } = await makeRun(root, 'audited')
    const audited = async (work: () => Promise<unknown>) => {
      const before = events.length
      await work()
      return events.slice(before).find(({ audit }) => audit !== undefined)
    }
    const owner = { machine_id: 'm-2', world_id: 'w-2' }
    const run = { tenant: 'default', run_id: 'audited' }
    expect(await audited(() => root.post(`${path}/lease`, { ...owner, force: true }))).toMatchObject({
      audit: 'lease.force',
      status: 200,
      token_id: expect.stringMatching(/^tok_/),
      ...run,
    })
    const weak = await withScopes('append')
    expect(await audited(() => weak.post(`${path}/lease`, { ...owner, force: true }))).toMatchObject({
      audit: 'lease.force',
      code: 'forbidden',
    })
    expect(await audited(() => root.get(`${path}/archive`))).toMatchObject({ audit: 'archive.read', ...run })
    const asked = { name: 'n', scopes: ['read'] }
    const made = await audited(() => root.post('/v1/tokens', asked))
    expect(made).toMatchObject({ audit: 'token.make', subject: expect.stringMatching(/^tok_/), status: 201 })
    expect(await audited(() => root.delete(`/v1/tokens/${made?.subject}`))).toMatchObject({
      audit: 'token.revoke',
      subject: made?.subject,
      status: 204,
    })
    expect(await audited(() => root.delete(`${path}?force=true`))).toMatchObject({
      audit: 'run.delete',
      status: 204,
    })
    expect(await audited(() => root.get('/v1/runs'))).toBeUndefined()
  })

  it('is written under the epoch that the caller named', async () => {
    const { root, events } = await testApi()
    const { epoch } = await makeRun(root, 'epochs')
    expect(events.at(-1)).toMatchObject({ route: '/v1/runs/{run_id}/frames', epoch, tenant: 'default' })
  })
})
