import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { asking, storageError } from '../../../../shared/store/aws/sdk-error.ts'

function sdkError(name: string, httpStatusCode?: number, attempts = 1): Error {
  return Object.assign(new Error('said by the service'), { name, $metadata: { httpStatusCode, attempts } })
}

describe('an error of the SDK', () => {
  it.each([
    ['SlowDown', 503, 'slow_down'],
    ['ThrottlingException', 400, 'slow_down'],
    ['ProvisionedThroughputExceededException', 400, 'slow_down'],
    ['InternalError', 500, 'unavailable'],
    ['ServiceUnavailable', 503, 'unavailable'],
    ['ConditionalRequestConflict', 409, 'unavailable'],
    ['RequestTimeout', 408, 'unavailable'],
    ['TimeoutError', undefined, 'unavailable'],
    ['NoSuchBucket', 404, 'internal'],
    ['AccessDenied', 403, 'internal'],
    ['ValidationException', 400, 'internal'],
  ] as const)('%s (%s) is %s', (name, status, code) => {
    const cause = sdkError(name, status)
    expect(storageError('asking', cause)).toMatchObject({ code, cause, message: `asking: ${name}` })
  })

  it('is no definite refusal when the first try may have taken effect', () => {
    expect(storageError('asking', sdkError('AccessDenied', 403, 2)).code).toBe('unavailable')
  })

  it('tells when to come again exactly where coming again may help', () => {
    expect(storageError('asking', sdkError('SlowDown', 503)).facts).toEqual({ retry_after_s: 1 })
    expect(storageError('asking', sdkError('AccessDenied', 403)).facts).toEqual({})
  })

  it('of a broken connection is unavailable, and our own errors pass as they are', async () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    await expect(asking('asking', () => Promise.reject(reset))).rejects.toMatchObject({ code: 'unavailable' })
    const ours = new RunfoldError('not_found', 'gone')
    await expect(asking('asking', () => Promise.reject(ours))).rejects.toBe(ours)
  })
})
