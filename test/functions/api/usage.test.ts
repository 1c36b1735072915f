import { expect, it } from 'vitest'
import { jsonBytes } from '#codec'
import { usageAnswer } from '#schema'
import { frame, header, join, owner, PREAMBLE, SECRET, testApi } from './api-kit.ts'

const call = (more: object) =>
  frame(new TextDecoder().decode(jsonBytes({ InferenceUsage: { ...CALL, ...more } })))
const CALL = {
  stage: 'plan',
  iteration: 0,
  provider: 'p',
  model: 'm',
  prompt_tokens: 1,
  completion_tokens: 2,
  cached_tokens: 3,
  cache_write_tokens: 4,
  at: 5,
}

it('usage is what the records say, to the last digit, as documented', async () => {
  const { root } = await testApi({ features: ['usage'] })
  const { epoch } = (await root.post('/v1/runs/run/lease', owner)).json
  const big = call({ prompt_tokens: 9007199254740993n })
  await root.append(
    'run',
    0,
    epoch,
    join(PREAMBLE, header('run'), frame('junk'), big, call({ kind: 'title' })),
  )
  const answer = await root.get('/v1/runs/run/usage')
  expect(answer.text).toContain('"totals":{"calls":2,"prompt_tokens":9007199254740994,')
  expect(answer.text).not.toContain(SECRET)
  expect(usageAnswer.strict().parse(answer.json)).toMatchObject({
    run_id: 'run',
    source: 'InferenceUsage',
    by_kind: [{ kind: 'stage' }, { kind: 'title', completion_tokens: 2 }],
    bucket_s: 1,
    series: [{ at: 5, calls: 2 }],
  })
})

it('usage needs the scope read and a run', async () => {
  const { root, withScopes } = await testApi({ features: ['usage'] })
  await root.post('/v1/runs/run/lease', owner)
  expect((await root.get('/v1/runs/run/usage')).json).toMatchObject({ source: 'none', series: [] })
  expect((await (await withScopes('append')).get('/v1/runs/run/usage')).json).toMatchObject({
    status: 403,
    scope: 'read',
  })
  expect((await root.get('/v1/runs/none/usage')).status).toBe(404)
})
