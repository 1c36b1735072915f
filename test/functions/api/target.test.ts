import { describe, expect, it } from 'vitest'
import { judgeTarget } from '../../../functions/api/target.ts'

const legal = ['a', '0', 'CON', 'a..b', 'a.', 'A-Z_0.9', 'constructor', 'lease', 'x'.repeat(128), '%41bc']
const illegal = [
  '.hidden',
  '-rf',
  '_private',
  '__proto__',
  'a%2Fb',
  'a%252Fb',
  '..%2F..%2Fetc',
  'a%5Cb',
  'a%20b',
  '100%25',
  'nul%00byte',
  'line%0A',
  'na%C3%AFve',
  'x'.repeat(129),
  'a:b',
  'a*b',
  'a%zzb',
  'a%2',
  'a%ffb',
  'a%ed%a0%bdb',
  '%20a',
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '...',
  '',
  '\\',
  'a\\b',
]

describe('the path as it came on the wire', () => {
  it.each(legal)('a run may be called %s', (name) => {
    expect(() => judgeTarget(`/v1/runs/${name}/archive?x=/../`)).not.toThrow()
  })

  it.each(illegal)('%j is no run_id, and the refusal tells the rule', (name) => {
    for (const rest of ['', '/lease', '/archive?a=1']) {
      if (name === '' && rest === '') continue
      expect(() => judgeTarget(`/v1/runs/${name}${rest}`)).toThrow(
        expect.objectContaining({
          code: 'bad_request',
          message: expect.stringContaining('1 to 128 characters'),
        }),
      )
    }
  })

  it.each([
    '/v1/runs/a/../../tokens',
    '/v1/runs/a/%2e%2e/lease',
    '/v1//runs',
    '/v1/./runs',
    '/v1/runs/a/',
    '/v1/health/',
  ])('%s leads nowhere, whatever a URL parser makes of it', (path) => {
    expect(() => judgeTarget(path)).toThrow(expect.objectContaining({ code: 'not_found' }))
  })

  it('a broken escape outside a run_id is a bad request', () => {
    expect(() => judgeTarget('/v1/tokens/%zz')).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })

  it('the absolute form is judged by its path', () => {
    expect(() => judgeTarget('http://127.0.0.1:8080/v1/runs/a/lease')).not.toThrow()
    expect(() => judgeTarget('http://127.0.0.1:8080/v1/runs/../lease')).toThrow()
    expect(() => judgeTarget('*')).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })
})
