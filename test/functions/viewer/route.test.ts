import { describe, expect, it } from 'vitest'
import { hashOf, numberIn, parseRoute, type Route, withQuery } from '../../../functions/viewer/data/route.ts'

const ROUTES: readonly Route[] = [
  { view: 'runs', query: {} },
  { view: 'runs', query: { q: 'a&b=c#d ?', status: 'error', cursor: 'x+/=' } },
  { view: 'run', run: 'demo-1', tab: 'window', query: { point: '17' } },
  { view: 'run', run: 'demo.2', tab: 'records', query: {} },
  { view: 'sessions', query: { harness: 'codex' } },
  { view: 'session', harness: 'claude-code', id: 'a/b c%d', query: { machine: 'm:1' } },
]

describe('an address', () => {
  it.each(ROUTES)('names its place: %j', (route) => {
    expect(parseRoute(hashOf(route))).toEqual(route)
  })

  it.each(['', '#', '#/', '#/runs', '#/runs/'])('%j is the list of runs', (hash) => {
    expect(parseRoute(hash)).toEqual({ view: 'runs', query: {} })
  })

  it.each(['#/elsewhere', '#/runs/a/no-such-tab', '#/sessions/codex', '#nonsense/x'])(
    '%j is nowhere',
    (hash) => {
      expect(parseRoute(hash).view).toBe('nowhere')
    },
  )

  it('with a broken escape is taken as it stands', () => {
    expect(parseRoute('#/runs/%E0%A4%A')).toMatchObject({ view: 'run', run: '%E0%A4%A' })
  })

  it('changes a word at a time', () => {
    const route = { view: 'runs', query: { q: 'x', cursor: 'c' } } as const
    expect(withQuery(route, { q: 'y', cursor: undefined }).query).toEqual({ q: 'y' })
  })

  it('holds whole numbers only where it should', () => {
    const query = { a: '17', b: '-1', c: '1.5', d: '', e: '99999999999999999' }
    expect(Object.keys(query).map((name) => numberIn(query, name))).toEqual([
      17,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
