import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { resourcesOf, templateOf } from './stack.ts'

const guide = readFileSync(new URL('../../docs/OPERATIONS.md', import.meta.url), 'utf8')

it('every alarm rings somewhere and names a section of the operations guide that is there', () => {
  const alarms = resourcesOf(templateOf(), 'AWS::CloudWatch::Alarm')
  expect(alarms.length).toBeGreaterThanOrEqual(9)
  for (const [, { AlarmDescription, AlarmActions }] of alarms) {
    const [, section] = /docs\/OPERATIONS\.md, "(.+)"$/.exec(String(AlarmDescription)) ?? []
    expect(section).toMatch(/^Alarm: /)
    expect(guide).toContain(`### ${section}\n`)
    expect(AlarmActions).toHaveLength(1)
  }
})
