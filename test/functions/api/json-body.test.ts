import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJson } from '../../../functions/api/json-body.ts'
import { testApi } from './api-kit.ts'

const read = (text: string) => readJson(new TextEncoder().encode(text))
const refusedAt = (path: string) =>
  expect.objectContaining({ facts: { issues: [expect.objectContaining({ path })] } })

describe('a JSON body', () => {
  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"b":{"c":[0,{"d":1,"d":2}]}}', 'b.c.1.d'],
    ['{"a":"x","\\u0061":"y"}', 'a'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', ''],
    ['[{"a":1},{"a":[],"b":{},"a":{}}]', '1.a'],
    ['{"a":"\\"}{,:","a":0}', 'a'],
  ])('that names a member twice is refused: %s', (text, path) => {
    expect(() => read(text)).toThrow(refusedAt(path))
  })

  it.each([
    '{"a":{"a":{"a":1}},"b":{"a":"a"}}',
    '[{"a":1},{"a":1},"a","a"]',
    '"a"',
    '7',
    '{"a":"b","b":"a"}',
  ])('that names no member twice is read: %s', (text) => expect(read(text)).toEqual(JSON.parse(text)))

  it('of any values is read as they are', () => {
    fc.assert(fc.property(fc.json(), (text) => void expect(read(text)).toEqual(JSON.parse(text))))
  })

  it.each([
    ['"\\ud800"', ''],
    ['{"a":"\\udc00"}', 'a'],
    ['{"a":["x",{"b":"\\ud83d \\ude00"}]}', 'a.1.b'],
    ['{"a":{"\\ud800":1}}', 'a'],
    ['{"a":"\\ude00\\ud83d"}', 'a'],
  ])('that holds half a surrogate pair is refused: %s', (text, path) => {
    expect(() => read(text)).toThrow(refusedAt(path))
  })

  it.each(['"\\ud83d\\ude00"', '{"\\ud83d\\ude00":"\\\\ud800"}', '["\\u0000","\\uffff"]'])(
    'that holds whole pairs is read: %s',
    (text) => expect(read(text)).toEqual(JSON.parse(text)),
  )

  it.each(['', '{', '{"a":1,}', '\ufeff{}', '{"a":1}{"a":1}'])('that is none is refused: %j', (text) => {
    expect(() => read(text)).toThrow(refusedAt(''))
  })

  it('is refused in bounded words and time, however long it is', () => {
    const deep = '{"a":'.repeat(20_000)
    const name = 'n'.repeat(50_000)
    const text = `${deep}{"${name}":"${'\\\\'.repeat(30_000)}","${name}":2}${'}'.repeat(20_000)}`
    expect(() => read(text)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{100,300}$/) }),
    )
  })
})

it('a lease that is asked for with two ttl_s is refused, and no run is made', async () => {
  const { root } = await testApi()
  const body = '{"machine_id":"m","world_id":"w","ttl_s":60,"ttl_s":61}'
  const headers = { 'content-type': 'application/json' }
  const { status, json } = await root.send('POST', '/v1/runs/r/lease', { headers, body })
  expect([status, json]).toMatchObject([400, { code: 'bad_request', issues: [{ path: 'ttl_s' }] }])
  expect((await root.get('/v1/runs/r')).status).toBe(404)
})
