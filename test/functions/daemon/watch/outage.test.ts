import { describe, expect, it } from 'vitest'
import { RunfoldError } from '#schema'
import { Outage } from '../../../../functions/daemon/watch/outage.ts'
import { Schedule } from '../../../../functions/daemon/watch/schedule.ts'

const away = new RunfoldError('unavailable', 'no answer')
const LONG = 60_000

/** Lets `run` try at `now`, and fail. */
const fails = (outage: Outage, run: string, now: number, error = away) => {
  outage.begins(run)
  return outage.met(run, error, now)
}

describe('an outage', () => {
  it('gives every run its turn, one at a time', () => {
    const outage = new Outage()
    expect(fails(outage, 'a', 0)).toEqual({ pauseMs: 1000, isNew: true })
    expect([outage.readyAt('a'), outage.readyAt('b')]).toEqual([1000, 1000])
    outage.begins('b')
    expect(outage.readyAt('a')).toBe(Number.POSITIVE_INFINITY)
    expect(outage.met('b', away, 1000)).toEqual({ pauseMs: 2000, isNew: false })
    expect(outage.readyAt('a')).toBe(3000)
    outage.begins('a')
    expect(outage.ended('a', true)).toBe(true)
    expect(outage.readyAt('b')).toBe(0)
  })

  it('is not made longer by what was under way when it began', () => {
    const outage = new Outage()
    fails(outage, 'a', 0)
    outage.met('b', away, 10)
    expect(outage.readyAt('c')).toBe(1000)
  })

  it('is not over because a run had nothing to ask', () => {
    const outage = new Outage()
    fails(outage, 'a', 0)
    outage.begins('idle')
    expect(outage.ended('idle', false)).toBe(false)
    expect(outage.readyAt('b')).toBe(1000)
  })

  it('waits as long as the server asks, and long for a token that is not taken', () => {
    const outage = new Outage()
    fails(outage, 'a', 0, new RunfoldError('unavailable', 'no', { retry_after_s: 30 }))
    expect(outage.readyAt('b')).toBe(30_000)
    fails(outage, 'b', 30_000, new RunfoldError('unauthorized', 'no'))
    expect(outage.readyAt('a')).toBe(30_000 + LONG)
  })

  it('does not hold back others for a run that is never served, once two outages showed that it is the one', () => {
    const outage = new Outage()
    let now = 0
    for (let round = 0; round < 2; round++) {
      expect(outage.isOwn('broken')).toBe(false)
      expect(fails(outage, 'broken', now).isNew).toBe(true)
      now += 1000
      outage.begins('healthy')
      outage.ended('healthy', true)
    }
    expect(outage.isOwn('broken')).toBe(true)
    expect(fails(outage, 'broken', now)).toEqual({ pauseMs: 4000, isNew: false })
    expect(outage.readyAt('healthy')).toBe(0)
    expect(outage.readyAt('broken')).toBe(now + 4000)
    expect(outage.ended('broken', true)).toBe(false)
    expect(outage.isOwn('broken')).toBe(false)
  })
})

describe('a schedule', () => {
  it('tells when what is due becomes ready', () => {
    const schedule = new Schedule()
    schedule.at('a', 5)
    schedule.at('never', 1)
    const readyAt = (name: string) => (name === 'a' ? 20 : Number.POSITIVE_INFINITY)
    expect(schedule.next(readyAt)).toBe(20)
    expect(schedule.take(19, readyAt)).toBeUndefined()
    expect(schedule.take(20, readyAt)).toBe('a')
    expect(schedule.next(readyAt)).toBeUndefined()
  })
})
