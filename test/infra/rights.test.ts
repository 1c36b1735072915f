import { expect, it } from 'vitest'
import { FULL, resourcesOf, templateOf } from './stack.ts'

interface Statement {
  readonly Effect: string
  readonly Action: string | string[]
  readonly Resource?: unknown
  readonly Principal?: unknown
  readonly Condition?: unknown
}

/** Every statement of every policy in the template, of roles and of resources. */
function statementsOf(template: ReturnType<typeof templateOf>): Statement[] {
  const found: Statement[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('Effect' in value && 'Action' in value) found.push(value as Statement)
    Object.values(value).forEach(visit)
  }
  visit(template.toJSON())
  return found
}

const list = (value: unknown) => (Array.isArray(value) ? value : [value])

for (const [name, context] of Object.entries({ default: {}, full: FULL })) {
  const allowed = statementsOf(templateOf(context)).filter(({ Effect }) => Effect === 'Allow')

  it(`no right of the ${name} stage is given by a wildcard action`, () => {
    expect(allowed.length).toBeGreaterThan(8)
    for (const { Action } of allowed) for (const action of list(Action)) expect(action).not.toContain('*')
  })

  it(`no right of the ${name} stage holds for every resource, but for tracing, which has none finer`, () => {
    for (const { Action, Resource } of allowed) {
      if (list(Resource).every((resource) => resource !== '*')) continue
      expect(list(Action).toSorted()).toEqual(['xray:PutTelemetryRecords', 'xray:PutTraceSegments'])
    }
  })

  it(`objects of the ${name} stage are granted by prefix`, () => {
    const wild = allowed
      .flatMap(({ Resource }) => list(Resource))
      .filter((resource) => resource !== '*' && JSON.stringify(resource ?? '').includes('*'))
      .map((resource) => /\/(\w+\/\*)"/.exec(JSON.stringify(resource))?.[1])
    expect(new Set(wild)).toEqual(new Set(['runs/*', 'sessions/*', 'audit/*', 'undelivered/*']))
  })

  it(`nobody but everybody's own function URL may be called by everybody in the ${name} stage`, () => {
    const open = allowed.filter(({ Principal }) => JSON.stringify(Principal ?? '').includes('"*"'))
    expect(open).toEqual([])
  })
}

it('the API cannot read the audit trail', () => {
  const template = templateOf()
  const [[trail] = []] = resourcesOf(template, 'AWS::S3::Bucket').filter(([id]) =>
    id.startsWith('AuditTrail'),
  )
  expect(trail).toBeDefined()
  const policies = resourcesOf(template, 'AWS::IAM::Policy')
    .filter(([id]) => /^(Api|Maintenance)/.test(id))
    .map(([, properties]) => JSON.stringify(properties))
  expect(policies).toHaveLength(3)
  for (const policy of policies) expect(policy).not.toContain(trail)
})
