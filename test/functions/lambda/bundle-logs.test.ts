import { describe, expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { joined } from '../../kit/stored-run.ts'
import { standing } from './deployed.ts'
import { begin, message, until } from './lambda-kit.ts'

const { deployed, ask, logged } = standing()

describe('what the functions log', () => {
  it('is a line of JSON for each request, and never a token, a query, a secret or a byte of a body', async () => {
    const canary = 'canary-in-a-body'
    const run = await begin(ask, 'logged')
    const batch = joined(PREAMBLE, message(canary))
    const before = logged().length
    const { json } = await run.append(batch)
    await ask('GET', `/v1/runs?q=canary-in-a-query`)
    await ask('GET', `${run.path}/archive`)
    await ask('GET', `${run.path}/fold`, { token: 'canary-of-a-wrong-token' })
    await ask('POST', '/v1/tokens', {
      body: JSON.stringify({ name: 'canary-in-json', scopes: ['read'] }),
      headers: { 'content-type': 'application/json' },
    })
    await until(async () => logged().includes('token.make'))
    const lines = logged()
      .slice(before)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const requests = lines.filter(({ message, route }) => message === 'request' && !route.endsWith('/lease'))
    expect(requests).toHaveLength(5)
    expect(requests[0]).toMatchObject({
      level: 'INFO',
      request_id: expect.stringMatching(/^[\w-]{20,}$/),
      route: '/v1/runs/{run_id}/frames',
      tenant: 'default',
      run_id: 'logged',
      epoch: json.epoch,
      status: 200,
      bytes_in: batch.length,
      ms: expect.any(Number),
    })
    expect(requests[2]).toMatchObject({ audit: 'archive.read' })
    expect(requests[3]).toMatchObject({ code: 'unauthorized', status: 401 })
    expect(requests[4]).toMatchObject({ audit: 'token.make', subject: expect.stringMatching(/^tok_/) })
    expect(logged()).not.toContain('canary')
  })

  it('tells what is behind a failure, and nothing of what was sent', async () => {
    const run = await begin(ask, 'failing')
    const before = logged().length
    deployed().disturb(({ operation }) => (operation === 'PUT' ? 'error_before' : undefined))
    const answer = await run.append(joined(PREAMBLE, message('canary-in-a-body')))
    deployed().disturb(() => undefined)
    expect(answer.json).toMatchObject({ status: 503, code: 'unavailable', retry_after_s: 1 })
    await until(async () => logged().slice(before).includes('"ERROR"'))
    const lines = logged()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"ERROR"'))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      code: 'unavailable',
      run_id: 'failing',
      cause: expect.stringContaining('InternalServerError'),
    })
    expect(logged()).not.toContain('canary')
  })

  it('counts for CloudWatch in its embedded format, without dimensions', async () => {
    const run = await begin(ask, 'counted')
    const before = logged().length
    const batch = joined(PREAMBLE, message('counted'))
    await run.append(batch)
    await until(async () => logged().slice(before).includes('"Appends":1'))
    const lines = logged()
      .slice(before)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const line = lines.find(({ Appends }) => Appends === 1)
    expect(line).toMatchObject({ Appends: 1, AppendedBytes: batch.length })
    const [metric] = line._aws.CloudWatchMetrics
    expect(metric).toMatchObject({ Namespace: 'runfold', Dimensions: [[]] })
    expect(metric.Metrics).toContainEqual({ Name: 'AppendedBytes', Unit: 'Bytes' })
  })
})
