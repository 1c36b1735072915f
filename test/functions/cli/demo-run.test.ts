import { describe, expect, it } from 'vitest'
import { encodeArchive, readStrict } from '#codec'
import { points } from '#fold'
import { type DemoOptions, demoArchive, demoRecords } from '../../../functions/cli/demo-run.ts'

const archiveOf = (options: DemoOptions) => Buffer.concat([...demoArchive(options)])

describe('the demo run', () => {
  it('is the same for the same seed, and another for another', () => {
    const one = archiveOf({ seed: 5, records: 80 })
    expect(archiveOf({ seed: 5, records: 80 }).equals(one)).toBe(true)
    expect(archiveOf({ seed: 6, records: 80 }).equals(one)).toBe(false)
  })

  it.each([0, 1, 2, 3, 5, 80])('has %i records, all of them readable', (records) => {
    const bytes = archiveOf({ seed: 5, records })
    expect([...readStrict(bytes)]).toHaveLength(records)
    expect(bytes.equals(encodeArchive(demoRecords({ seed: 5, records })))).toBe(true)
  })

  it('shows what real runs do: every delta, a rewrite, a wait and a handoff', () => {
    const kinds = new Set<string>()
    for (const record of demoRecords({ seed: 7, records: 3000, entryBytes: 800 })) {
      const [kind, body] = Object.entries(record)[0] as [
        string,
        { delta?: { regions: object[] }; status?: string },
      ]
      kinds.add(kind)
      if (body.status) kinds.add(body.status)
      for (const operation of body.delta?.regions ?? []) kinds.add(Object.keys(operation)[0] as string)
    }
    for (const kind of [
      'Header',
      'ContextCheckpoint',
      'Progress',
      'InferenceUsage',
      'ToolBatch',
      'ToolCallDone',
      'OwnershipChanged',
      'Message',
    ])
      expect(kinds).toContain(kind)
    for (const kind of ['Append', 'Set', 'Clear', 'waiting_input', 'complete']) expect(kinds).toContain(kind)
  })

  it('keeps its window bounded however long it is', () => {
    let largest = 0
    function* items() {
      for (const { frame, record } of readStrict(archiveOf({ seed: 7, records: 3000, entryBytes: 800 })))
        yield { type: 'record' as const, frame, record }
    }
    for (const { context } of points(items())) {
      largest = Math.max(
        largest,
        context.regions.list().reduce((sum, { entries }) => sum + entries.length, 0),
      )
    }
    expect(largest).toBeGreaterThan(80)
    expect(largest).toBeLessThan(110)
  })
})
