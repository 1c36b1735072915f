import { describe, expect, it } from 'vitest'
import { HARNESSES } from '#schema'
import { HOMES, type Home, isLineOriented, parserOf, refusalOf, sendingOrder } from '#sessions'

const homeOf = (harness: string): Home => {
  const home = HOMES.find((found) => found.harness === harness)
  if (home === undefined) throw new Error(`no home of ${harness}`)
  return home
}

const SID = '7c1d4e52-8a90-4b3e-9f66-2d0a5b7e1c34'
const bytes = (text: string) => new TextEncoder().encode(text)

it('every harness has one, under the one spelling of its name', () => {
  expect(HOMES.map(({ harness }) => harness)).toEqual([...HARNESSES])
  for (const name of HARNESSES) expect(parserOf(name).split('/')[0]).toBe(name)
})

describe('the home of Claude Code', () => {
  const home = homeOf('claude-code')

  it('holds transcripts in exactly one depth, and what lies beside them', () => {
    expect(home.place(`projects/-work-x/${SID}.jsonl`)).toEqual({ id: SID, path: `${SID}.jsonl` })
    for (const beside of [
      'tool-results/a.txt',
      'subagents/agent-1.jsonl',
      'subagents/agent-1.meta.json',
      'new/x',
    ]) {
      expect(home.place(`projects/-work-x/${SID}/${beside}`)).toEqual({ id: SID, path: `${SID}/${beside}` })
    }
    expect(home.place('projects/-work-x/agent-1.jsonl')).toEqual({ id: 'agent-1', path: 'agent-1.jsonl' })
  })

  it('never gives away what is no session', () => {
    for (const path of [
      '.credentials.json',
      'settings.json',
      'history.jsonl',
      `projects/${SID}.jsonl`,
      'projects/-work-x/notes.txt',
      'projects/-work-x/memory/MEMORY.md',
      `todos/${SID}.json`,
    ]) {
      expect(home.place(path), path).toBeUndefined()
    }
  })
})

describe('the home of Codex', () => {
  const home = homeOf('codex')
  const name = `rollout-2026-11-03T10-30-00-${SID}.jsonl`

  it('knows a rollout by its name wherever it lies, packed or not', () => {
    const place = { id: SID, path: name }
    expect(home.place(`sessions/2026/11/03/${name}`)).toEqual(place)
    expect(home.place(`archived_sessions/${name}`)).toEqual(place)
    expect(home.place(`archived_sessions/2026/${name}`)).toEqual(place)
    expect(home.place(`archived_sessions/${name}.zst`)).toEqual({ ...place, compressed: 'zstd' })
    expect(home.place('sessions/2026/11/03/rollout-odd.jsonl')).toEqual({
      id: 'rollout-odd',
      path: 'rollout-odd.jsonl',
    })
  })

  it('never gives away what is no rollout', () => {
    for (const path of [
      'auth.json',
      'history.jsonl',
      `sessions/${name}`,
      'sessions/2026/11/03/x.jsonl',
      name,
    ]) {
      expect(home.place(path), path).toBeUndefined()
    }
  })

  it('lets the first record name the session, and no later one', () => {
    const meta = (id: string) => `{"type":"session_meta","payload":{"id":"${id}"}}\n`
    expect(home.nameIn?.(bytes(`\ufeff\r\n${meta('a')}${meta('b')}`))).toBe('a')
    expect(home.nameIn?.(bytes(`{"type":"event_msg"}\n${meta('b')}`))).toBeUndefined()
    expect(home.nameIn?.(bytes('{"type":"session_meta","payload":{"id":"a'))).toBeUndefined()
  })
})

describe('the home of Kimi Code', () => {
  const home = homeOf('kimi-code')

  it('holds every file of a session folder but those that come and go', () => {
    const place = (path: string) => home.place(`sessions/wd_1/session_${SID}/${path}`)
    for (const path of ['state.json', 'agents/main/wire.jsonl', 'agents/a/tool-results/x', 'context.jsonl']) {
      expect(place(path)).toEqual({ id: SID, path })
    }
    for (const path of ['state.json.lock', 'agents/main/x.tmp', '']) expect(place(path), path).toBeUndefined()
    expect(home.place('session_index.jsonl')).toBeUndefined()
    expect(home.place('sessions/wd_1/other/state.json')).toBeUndefined()
  })

  it('is a session only with a state or a wire', () => {
    expect(home.isSession?.(new Set(['state.json']))).toBe(true)
    expect(home.isSession?.(new Set(['agents/main/wire.jsonl']))).toBe(true)
    expect(home.isSession?.(new Set(['agents/a/wire.jsonl', 'notes']))).toBe(false)
  })
})

describe('files of a session', () => {
  it('are sent so that what is referred to comes before what refers to it', () => {
    const order = (harness: 'claude-code' | 'codex' | 'kimi-code', ...paths: string[]) =>
      paths.map((path) => sendingOrder(harness, 's', path))
    expect(order('claude-code', 's/tool-results/a', 's/subagents/agent-1.jsonl', 's.jsonl')).toEqual([
      0, 1, 2,
    ])
    expect(order('claude-code', 's/subagents/agent-1.meta.json', 's/state.json')).toEqual([0, 0])
    expect(order('codex', 'rollout-1.jsonl')).toEqual([2])
    const kimi = ['agents/a/tool-results/x', 'agents/a/wire.jsonl', 'agents/main/wire.jsonl', 'state.json']
    expect(order('kimi-code', ...kimi)).toEqual([0, 1, 2, 3])
  })

  it('grow by lines only where they are lists of records', () => {
    expect(isLineOriented('s.jsonl')).toBe(true)
    expect(isLineOriented('s/tool-results/a.txt')).toBe(false)
  })

  it('are refused by name, with the reason, and never renamed', () => {
    expect(refusalOf({ id: 's', path: 'a/b.jsonl' })).toBeUndefined()
    for (const path of ['', '/a', 'a//b', 'a/../b', 'a/.', 'a\\b', 'C:/a', 'a\u0000', 'x'.repeat(513)]) {
      expect(refusalOf({ id: 's', path }), JSON.stringify(path)).toMatch(/^a path /)
    }
    for (const id of ['', '.', '..', 'x'.repeat(201)]) {
      expect(refusalOf({ id, path: 'a' }), id).toMatch(/^a session id /)
    }
  })
})
