import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { keepDoing } from '../../../functions/api/background.ts'
import { createLog } from '../../../functions/api/log.ts'
import { startMessage } from '../../../functions/api/start-message.ts'
import { whyNot } from '../../../functions/api/why-not.ts'
import { SettingError } from '../../../functions/env.ts'

describe('work in the background', () => {
  it('goes on after a failure, and ends with the signal', async () => {
    const end = new AbortController()
    const failures: unknown[] = []
    const naps: number[] = []
    let rounds = 0
    await keepDoing(
      async () => {
        rounds++
        if (rounds === 2) throw new Error('one round')
        if (rounds === 4) end.abort()
      },
      {
        everyMs: 1000,
        clock: { now: () => 0, sleep: async (ms) => void naps.push(ms) },
        signal: end.signal,
        failed: (error) => failures.push(error),
      },
    )
    expect(rounds).toBe(4)
    expect(failures).toEqual([new Error('one round')])
    expect(naps).toEqual([1000, 1000, 1000, 1000])
  })
})

describe('the log', () => {
  const event = { request_id: 'r', method: 'GET', route: '/v1/runs', status: 200, bytes_in: 0, ms: 1.234 }

  it('is quiet about what went well, and tells failures with their cause', () => {
    const lines: string[] = []
    const log = createLog(false, (line) => lines.push(line))
    log.request(event)
    log.request({ ...event, status: 404, code: 'not_found' })
    expect(lines).toEqual([])
    log.request({ ...event, status: 500, code: 'internal', cause: new Error('the cause') })
    expect(lines[0]).toContain('answered 500 internal (request r)')
    expect(lines[0]).toContain('the cause')
  })

  it('in JSON is one line for everything', () => {
    const lines: string[] = []
    const log = createLog(true, (line) => lines.push(line))
    log.request({ ...event, status: 500, code: 'internal', cause: new Error('a\nb') })
    log.warn('careful', new Error('c'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', status: 500, ms: 1.2, cause: expect.stringContaining('a\nb') },
      { level: 'warn', message: 'careful' },
    ])
  })
})

describe('what a person is told', () => {
  const token = { text: 't', place: 'runfold-data/admin-token' }
  const login = { code: 'once' }

  it('at a start with the defaults are three commands', () => {
    const message = startMessage({
      url: 'http://127.0.0.1:8080',
      place: './runfold-data',
      data: './runfold-data',
      token,
      login,
      cli: 'runfold',
    })
    expect(message).toContain('http://127.0.0.1:8080/#login=once ')
    expect(message.split('\n').slice(2)).toEqual([
      '  runfold demo run.lvr',
      '  runfold push run.lvr',
      '  runfold ls',
    ])
  })

  it('elsewhere is also where the CLI finds it', () => {
    const where = { url: 'http://127.0.0.1:9', login, place: 's3://runs/ and table runs', data: "/it's here" }
    const message = startMessage({ ...where, token, cli: 'runfold' })
    expect(message).toContain('data in s3://runs/ and table runs')
    expect(message).toContain('export RUNFOLD_URL=http://127.0.0.1:9')
    expect(message).toContain(`export RUNFOLD_DATA='/it'\\''s here'`)
    const given = { text: 't', place: 'RUNFOLD_ADMIN_TOKEN' }
    expect(startMessage({ ...where, token: given, cli: 'runfold' })).toContain(
      'RUNFOLD_TOKEN="$RUNFOLD_ADMIN_TOKEN"',
    )
  })

  it('of a failed start is a sentence, and a stack only of a mistake of ours', () => {
    expect(whyNot(new SettingError('PORT is odd'))).toBe('PORT is odd')
    expect(whyNot(new Error('the folder is locked'))).toBe('the folder is locked')
    const cause = new Error('there is no such table')
    const storage = new RunfoldError('internal', 'reading a token', {}, { cause })
    expect(whyNot(storage)).toBe('reading a token: there is no such table')
    expect(whyNot(new TypeError('x is not a function'))).toContain('at ')
  })
})
