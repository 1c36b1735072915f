import { appendFileSync, renameSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { FileAppendAnswer } from '#schema'
import { startServer } from '../../../shared/client/kit.ts'
import { CLAUDE, laptop, rows } from './kit.ts'

const MAIN = `${CLAUDE}/s1.jsonl`

type Answered = Pick<FileAppendAnswer, 'outcome' | 'problems'>

/** A laptop whose server answers every append so. */
const laptopAnswered = async (answer: Answered) => {
  const server = await startServer(undefined, ['sessions'])
  const through: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const isAppend = request.method === 'POST' && request.url.includes('/files')
    const answered = await server.fetch(input, init)
    if (!isAppend) return answered
    return Response.json({ ...((await answered.json()) as FileAppendAnswer), ...answer })
  }
  return laptop({ ...server, fetch: through })
}

describe('what a document reports', () => {
  it('is asked for where it has changed, not with every append', async () => {
    const here = await laptop()
    const said = async () => (await here.sync()).sessions[0]?.problems
    here.write(MAIN, `${rows(0, 2)}bad line\n`)
    expect(await said()).toEqual(['1 bad line at 3'])
    appendFileSync(here.path(MAIN), rows(2, 4))
    const { sessions, counters } = await here.sync()
    expect(sessions[0]).toMatchObject({ outcome: 'partial', problems: ['1 bad line at 3'] })
    expect(counters.requests).toBe(1)
    appendFileSync(here.path(MAIN), 'bad line\n')
    expect(await said()).toEqual(['2 bad lines at 3, 6'])
    here.write(MAIN, `bad line\nbad line\n${rows(0, 1)}`)
    expect(await said(), 'as many in another generation').toEqual(['2 bad lines at 1, 2'])
    here.write(MAIN, rows(0, 1))
    expect(await said()).toEqual([])
  })

  it('is told where nothing is remembered any more, and costs no request then', async () => {
    const here = await laptop()
    here.write(MAIN, `${rows(0, 2)}bad line\n`)
    await here.sync()
    renameSync(here.path('.state'), here.path('.forgotten'))
    const { sessions, counters } = await here.sync()
    expect(sessions).toMatchObject([{ outcome: 'partial', bytes: 0, problems: ['1 problem'] }])
    expect(counters.requests).toBe(1)
    const again = await here.sync()
    expect(again.sessions).toMatchObject([{ outcome: 'partial', problems: ['1 problem'] }])
    expect(again.counters.requests).toBe(0)
    appendFileSync(here.path(MAIN), rows(2, 3))
    expect((await here.sync()).sessions).toMatchObject([{ problems: ['1 bad line at 3'] }])
  })

  it('is told by a verification where the derivation was due when it was sent', async () => {
    const here = await laptopAnswered({ outcome: 'archived', problems: null })
    here.write(MAIN, `${rows(0, 2)}bad line\n`)
    expect((await here.sync()).outcomes).toEqual({ s1: 'archived' })
    const { sessions } = await here.sync({ verifies: true })
    expect(sessions).toMatchObject([{ outcome: 'partial', problems: ['1 bad line at 3'] }])
  })

  it('is told again and again where it could not be derived, until it could', async () => {
    const answer: Answered = { outcome: 'failed', problems: null }
    const here = await laptopAnswered(answer)
    here.write(MAIN, rows(0, 2))
    expect((await here.sync()).outcomes).toEqual({ s1: 'failed' })
    const { sessions, counters } = await here.sync()
    expect(sessions).toMatchObject([
      { outcome: 'partial', problems: [expect.stringContaining('could not be derived')] },
    ])
    expect(counters.requests).toBe(0)
    Object.assign(answer, { outcome: 'archived', problems: 0 })
    appendFileSync(here.path(MAIN), rows(2, 3))
    expect((await here.sync()).outcomes).toEqual({ s1: 'archived' })
    expect((await here.sync()).outcomes).toEqual({ s1: 'skipped' })
  })
})
