import { describe, expect, it } from 'vitest'
import type { RunKey, SessionKey } from '#schema'
import type { SessionMaintainer } from '#sessions/archive'
import type { Maintainer } from '#store'
import { createMaintenance, visiting } from '../../../functions/maintain/maintenance.ts'
import type { MeasureName } from '../../../functions/measures.ts'

const RUN: RunKey = { tenant: 'default', run_id: 'run' }
const SESSION: SessionKey = { tenant: 'default', machine: 'box', harness: 'codex', id: 'sid' }
const SCHEDULED = { source: 'aws.events', 'detail-type': 'Scheduled Event' }

/** The function with a maintainer that only tells what it was asked. */
function maintenance(given: Partial<Maintainer> = {}, ofSessions: Partial<SessionMaintainer> = {}) {
  const asked: unknown[] = []
  const sent: object[] = []
  const tallied: MeasureName[] = []
  const warned: string[] = []
  const runs: Maintainer = {
    pass: async () => void asked.push('pass'),
    visit: async (run) => void asked.push({ visit: run }),
    round: async (after) => {
      asked.push({ round: after })
      return { after: undefined, failures: [] }
    },
    ...given,
  }
  const sessions: SessionMaintainer = {
    pass: async () => void asked.push('sessions'),
    round: async (after) => {
      asked.push({ sessions: after })
      return { after: undefined, failures: [] }
    },
    ...ofSessions,
  }
  const run = createMaintenance({
    runs,
    sessions,
    again: async (event) => void sent.push(event),
    tally: (name) => tallied.push(name),
    log: { warn: (message) => warned.push(message) },
  })
  return { run, asked, sent, tallied, warned }
}

/** So much time is left at each look, the last for ever. */
function timeLeft(...looks: number[]) {
  return { getRemainingTimeInMillis: () => (looks.length > 1 ? (looks.shift() ?? 0) : (looks[0] ?? 0)) }
}
const MUCH = timeLeft(900_000)

describe('the maintain function', () => {
  it('does a pass of everything that has a due list when the schedule calls', async () => {
    const { run, asked } = maintenance()
    await run(SCHEDULED, MUCH)
    expect(asked).toEqual(['pass', 'sessions'])
  })

  it('looks at the one run that the append path names', async () => {
    const { run, asked } = maintenance()
    await run(JSON.parse(JSON.stringify(visiting(RUN))), MUCH)
    expect(asked).toEqual([{ visit: RUN }])
  })

  it.each([null, 7, 'visit', { visit: {} }, { round: 3 }])(
    'does a pass for what it does not know: %j',
    async (event) => {
      const { run, asked } = maintenance()
      await run(event, MUCH)
      expect(asked).toEqual(['pass', 'sessions'])
    },
  )

  it('calls itself to go on with a round that its time was too short for', async () => {
    const { run, sent } = maintenance({ round: async () => ({ after: RUN, failures: [] }) })
    await run({ round: {} }, MUCH)
    expect(sent).toEqual([{ round: { after: RUN } }])
    const next = maintenance()
    await next.run(sent[0], MUCH)
    expect(next.asked).toEqual([{ round: RUN }])
  })

  it('lets a round of sessions follow that of runs, and goes on with it too', async () => {
    const first = maintenance({}, { round: async () => ({ after: SESSION, failures: [] }) })
    await first.run({ round: {} }, MUCH)
    expect(first.sent).toEqual([{ sessions: {} }])
    await first.run(first.sent[0], MUCH)
    expect(first.sent.slice(1)).toEqual([{ sessions: { after: SESSION } }])
    const next = maintenance()
    await next.run(first.sent[1], MUCH)
    expect([next.asked, next.sent]).toEqual([[{ sessions: SESSION }], []])
  })

  it('begins nothing that it might not end', async () => {
    const over: boolean[] = []
    const pass = async (isOver: () => boolean = () => false) => void over.push(isOver(), isOver(), isOver())
    await maintenance({ pass }).run(SCHEDULED, timeLeft(900_000, 200_000, 180_000, 179_999))
    expect(over).toEqual([false, false, true])
    over.length = 0
    await maintenance({ pass }).run(SCHEDULED, timeLeft(60_000, 31_000, 30_000, 29_999)) // of a short time half is kept
    expect(over).toEqual([false, false, true])
  })

  it('counts and logs a failure, and throws it, so that the platform sends the event again', async () => {
    const broken = { pass: () => Promise.reject(new Error('broken')) }
    const first = maintenance(broken)
    await expect(first.run(SCHEDULED, MUCH)).rejects.toThrow('failed in 1 places')
    expect(first.asked).toEqual(['sessions']) // they have their turn all the same
    expect(first.tallied).toEqual(['MaintenanceFailures'])
    expect(first.warned).toHaveLength(1)
    const failing = maintenance({ visit: () => Promise.reject(new Error('broken')) })
    await expect(failing.run(visiting(RUN), MUCH)).rejects.toThrow('broken')
    expect(failing.tallied).toEqual(['MaintenanceFailures'])
  })

  it('goes on once with a round in which some runs failed, and tells of them', async () => {
    const failures = [new Error('one')]
    const { run, sent, tallied, warned } = maintenance({ round: async () => ({ after: RUN, failures }) })
    await run({ round: {} }, MUCH) // thrown, it would be sent again, and go on once more
    expect(sent).toHaveLength(1)
    expect(tallied).toEqual(['MaintenanceFailures'])
    expect(warned).toHaveLength(1)
  })
})
