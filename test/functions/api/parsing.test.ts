import { describe, expect, it } from 'vitest'
import { noneMatch } from '../../../functions/api/etag.ts'
import { createHostCheck } from '../../../functions/api/host-check.ts'
import { readQuery } from '../../../functions/api/query.ts'
import { byteRange } from '../../../functions/api/range.ts'
import { readServerEnv, SettingError } from '../../../functions/env.ts'

describe('queries', () => {
  it('are names and values, decoded once', () => {
    expect({ ...readQuery('?a=1&b=x+y%2B&c&d=') }).toEqual({ a: '1', b: 'x y+', c: '', d: '' })
    expect({ ...readQuery('') }).toEqual({})
  })

  it.each(['?a=1&a=1', '?a=%zz', '?%ff=1', '?__proto__=1&__proto__=2'])('%s is refused', (query) => {
    expect(() => readQuery(query)).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })

  it('__proto__ is a name like any other', () => {
    expect(Object.keys(readQuery('?__proto__=1'))).toEqual(['__proto__'])
  })
})

describe('If-None-Match', () => {
  it.each([['"a"'], ['W/"a"'], ['"x", "a"'], ['"x" , W/"a"'], ['*'], [' * ']])('%s names "a"', (header) => {
    expect(noneMatch(header, '"a"')).toBe(true)
  })

  it.each([[null], ['"b"'], ['a'], ['"x, a"'], ['']])('%s does not', (header) => {
    expect(noneMatch(header, '"a"')).toBe(false)
  })
})

describe('Range', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-', 0, 100],
    ['bytes=90-200', 90, 100],
    ['bytes=-10', 90, 100],
    ['bytes=-1000', 0, 100],
    ['BYTES=5-6', 5, 7],
    ['bytes=99-99999999999999999999', 99, 100],
  ])('%s of 100 bytes', (header, start, end) => {
    expect(byteRange(header, 100)).toEqual({ start, end })
  })

  it.each([[null], ['bytes=0-1,5-6'], ['lines=0-1'], ['bytes=-'], ['bytes=5-4'], ['bytes=a-b'], ['0-1']])(
    '%s asks for the whole',
    (header) => expect(byteRange(header, 100)).toBeUndefined(),
  )

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s is past the end',
    (header) => {
      expect(() => byteRange(header, 100)).toThrow(
        expect.objectContaining({ code: 'range_not_satisfiable', facts: { tail: 100 } }),
      )
    },
  )

  it('of nothing is always past the end', () => {
    expect(() => byteRange('bytes=0-', 0)).toThrow()
  })
})

describe('the Host header', () => {
  it.each(['127.0.0.1:8080', 'localhost:1', 'LOCALHOST', '[::1]:8080'])('%s is this machine', (host) => {
    expect(() => createHostCheck('127.0.0.1')(host)).not.toThrow()
  })

  it.each([
    null,
    '',
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil:80',
    '10.0.0.1',
    '127.0.0.1:80:80',
  ])('%s is another one', (host) =>
    expect(() => createHostCheck('127.0.0.1')(host)).toThrow(expect.objectContaining({ code: 'forbidden' })),
  )

  it('a server bound to one more address answers to it', () => {
    const check = createHostCheck('10.1.2.3', ['box'])
    expect(() => check('10.1.2.3:8080')).not.toThrow()
    expect(() => check('10.1.2.4')).toThrow()
    expect(() => check('box')).toThrow()
  })

  it('a server bound to every address answers to addresses and its own name, not to other names', () => {
    const check = createHostCheck('0.0.0.0', ['Box'])
    for (const host of ['10.1.2.3:8080', '[fe80::1]', 'box:80']) expect(() => check(host)).not.toThrow()
    expect(() => check('evil.example')).toThrow()
  })
})

describe('the environment', () => {
  it('has defaults, and empty variables are absent ones', () => {
    const defaults = {
      port: 8080,
      host: '127.0.0.1',
      data: './runfold-data',
      store: { kind: 'local' },
      adminToken: undefined,
      logRequests: false,
    }
    expect(readServerEnv({})).toEqual(defaults)
    expect(readServerEnv({ PORT: '', RUNFOLD_HOST: '', RUNFOLD_DATA: '', RUNFOLD_ADMIN_TOKEN: '' })).toEqual(
      defaults,
    )
  })

  it('names the bucket and the table of the store aws, and who answers for them', () => {
    const env = {
      RUNFOLD_STORE: 'aws',
      RUNFOLD_BUCKET: 'b',
      RUNFOLD_TABLE: 't',
      RUNFOLD_PREFIX: 'p/',
      RUNFOLD_ENDPOINT_S3: 'http://localhost:9000',
    }
    const s3 = 'http://localhost:9000'
    const store = { kind: 'aws', bucket: 'b', table: 't', prefix: 'p/', s3, dynamodb: undefined }
    expect(readServerEnv(env).store).toEqual(store)
  })

  it.each([
    { PORT: 'x' },
    { PORT: '65536' },
    { PORT: '-1' },
    { PORT: '1.5' },
    { RUNFOLD_ADMIN_TOKEN: 'a b' },
    { RUNFOLD_STORE: 'tape' },
    { RUNFOLD_STORE: 'aws', RUNFOLD_BUCKET: 'runs' },
    { RUNFOLD_STORE: 'aws', RUNFOLD_TABLE: 'runs' },
    { RUNFOLD_STORE: 'aws', RUNFOLD_BUCKET: 'b', RUNFOLD_TABLE: 't', RUNFOLD_ENDPOINT_S3: 'localhost:9000' },
  ])('%j is refused', (env) => {
    expect(() => readServerEnv(env)).toThrow(SettingError)
  })
})
