import { describe, expect, it } from 'vitest'
import { createOriginCheck } from '../../../functions/api/origin-check.ts'
import { manualClock } from '../../kit/manual-clock.ts'

const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:origin'
const showing = (secret?: string) => new Headers(secret === undefined ? {} : { 'x-runfold-origin': secret })

/** A check on a secret that is kept elsewhere, and how often it was asked for. */
function kept(secret: string) {
  const clock = manualClock()
  const store = { secret, reads: 0 }
  const read = async () => {
    store.reads++
    return store.secret
  }
  return { clock, store, check: createOriginCheck(ARN, read, clock) }
}

describe('the front door', () => {
  it('lets in what shows the secret, and nothing else', async () => {
    const never = () => Promise.reject(new Error('not asked'))
    const check = createOriginCheck('the-secret', never, manualClock())
    await check(showing('the-secret'))
    for (const wrong of ['the-secret ', 'the-secreT', 'the', '', undefined]) {
      const headers =
        wrong === undefined ? showing() : showing(wrong.trim() === 'the-secret' ? 'the-secret-' : wrong)
      await expect(check(headers)).rejects.toMatchObject({ code: 'forbidden' })
    }
  })

  it('reads a secret that is kept elsewhere once', async () => {
    const { check, store } = kept('first')
    for (let n = 0; n < 5; n++) await check(showing('first'))
    expect(store.reads).toBe(1)
  })

  it('learns of a new secret, and is not made to ask for it more than once a minute', async () => {
    const { check, store, clock } = kept('first')
    await check(showing('first'))
    store.secret = 'second'
    for (let n = 0; n < 5; n++) await expect(check(showing('second'))).rejects.toThrow()
    expect(store.reads).toBe(1)
    clock.advance(60_000)
    await check(showing('second'))
    await expect(check(showing('first'))).rejects.toThrow()
    expect(store.reads).toBe(2)
  })

  it('asks again after a failure to read it', async () => {
    const clock = manualClock()
    let fails = true
    const check = createOriginCheck(
      ARN,
      async () => (fails ? Promise.reject(new Error('no answer')) : 's'),
      clock,
    )
    await expect(check(showing('s'))).rejects.toThrow('no answer')
    fails = false
    await check(showing('s'))
  })
})
