import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Document, derive, type Held, heldFiles } from '../../kit/session-files.ts'
import { describeShared, sharedBytes, sharedPath, sharedText } from '../../kit/shared-folder.ts'

const CASES = 'sessions/cases/'
const CLAUDE = '5e551011-0000-4000-8000-000000000001'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const expected = (name: string) => sharedText(`${CASES}expected/${name}.json`)

function claude(bytes: Uint8Array, generation = 1) {
  const files = heldFiles(new Map([[`${CLAUDE}.jsonl`, { bytes, generation }]]))
  return { harness: 'claude-code', id: CLAUDE, files } as const
}

describeShared('the hostile cases of Claude Code', () => {
  const single = [
    ['02-glued-stub', 'a record glued onto a stub is one bad line, and nothing after it is lost'],
    ['04-u2028', 'only LF ends a line'],
    ['05-lone-surrogate', 'lone halves of surrogate pairs become U+FFFD'],
    ['05-wtf8-bytes', 'bytes that are no UTF-8 are flagged and shown'],
    ['06-bom-crlf', 'a BOM, CRs and blank lines are no records'],
    ['07-binary-in-string', 'Latin-1 is flagged, an escaped NUL is text'],
    ['20-compact-replay', 'rows written again appear again'],
    ['21-usage-dups', 'each response counts once, with its last numbers'],
  ] as const
  for (const [name, title] of single) {
    it(`${name}: ${title}`, async () => {
      const made = await derive(claude(sharedBytes(`${CASES}${name}.jsonl`)))
      expect(text(made.document)).toBe(expected(name))
    })
  }

  it('01: a torn line is the tail until its rest has come', async () => {
    const first = await derive(claude(sharedBytes(`${CASES}01-torn-tail.step1.jsonl`)))
    expect(text(first.document)).toBe(expected('01-torn-tail.step1'))
    expect(first.state_offset).toBe(584)
    const second = await derive(claude(sharedBytes(`${CASES}01-torn-tail.step2.jsonl`)), first)
    expect(text(second.document)).toBe(expected('01-torn-tail.step2'))
    expect(second.counters).toMatchObject({
      records_parsed: 2,
      raw_bytes_read: 1202 - 584,
      messages_reused: 2,
    })
  })

  it('18: another generation is derived anew, whatever was known of the one before', async () => {
    let before: Document | undefined
    for (const step of [1, 2, 3]) {
      const made = await derive(claude(sharedBytes(`${CASES}18-regrow/step${step}.jsonl`), step), before)
      expect(text(made.document)).toBe(expected(`18-regrow.step${step}`))
      expect(made.reused.messages).toBe(0)
      before = made
    }
  })

  it('26: characters may be cut by chunks of any size', async () => {
    const bytes = sharedBytes(`${CASES}26-utf8-boundaries.jsonl`)
    for (const size of [1, 2, 3, 5, 7, 4096]) {
      const files = heldFiles(new Map([[`${CLAUDE}.jsonl`, { bytes }]]), size)
      const made = await derive({ ...claude(bytes), files })
      expect(text(made.document)).toBe(expected('26-utf8-boundaries'))
    }
  })
})

describeShared('16: a fork of Codex', () => {
  const folder = `${CASES}16-codex-fork/`
  const held = () =>
    new Map(readdirSync(sharedPath(folder)).map((path) => [path, { bytes: sharedBytes(folder + path) }]))
  const session = (letter: string) => {
    const files: Held = new Map([...held()].filter(([path]) => path.endsWith(`${letter}.jsonl`)))
    return heldFiles(files)
  }
  const id = (letter: string) => `019f0000-0000-7000-8000-00000000000${letter}`

  for (const [letter, name] of [
    ['a', 'parent'],
    ['b', 'child'],
  ] as const) {
    it(`what is copied is counted once: ${name}`, async () => {
      const ancestor = async (other: string) => (other === id('a') ? session('a') : undefined)
      const files = session(letter)
      const made = await derive({ harness: 'codex', id: id(letter), files, ancestor })
      expect(text(made.document)).toBe(expected(`16-codex-fork.${name}`))
    })
  }
})

describeShared('22: a session of Kimi Code is a folder', () => {
  const folder = `${CASES}22-kimi-dir/`
  const paths = ['agents/agent-0/wire.jsonl', 'agents/main/wire.jsonl', 'context.jsonl', 'state.json']
  const first: Held = new Map(paths.map((path) => [path, { bytes: sharedBytes(`${folder}sess-1/${path}`) }]))
  const request = (held: Held) => ({ harness: 'kimi-code', id: 'sess-1', files: heldFiles(held) }) as const

  it('state.json changes the trailer only, an append nothing before it', async () => {
    const one = await derive(request(first))
    expect(text(one.document)).toBe(expected('22-kimi-dir.step1'))

    const state = { bytes: sharedBytes(`${folder}step2.state.json`), generation: 2 }
    const second: Held = new Map([...first, ['state.json', state]])
    const two = await derive(request(second), one)
    expect(text(two.document)).toBe(expected('22-kimi-dir.step2'))
    expect(two.counters).toMatchObject({ records_parsed: 0, messages_parsed: 0, messages_reused: 1 })

    const wire = text(first.get('agents/main/wire.jsonl')?.bytes ?? new Uint8Array())
    const line = wire.split('\n')[1]?.replace('"text":"hi"', '"text":"more"').replace('000001}', '000002}')
    const bytes = new TextEncoder().encode(`${wire}${line}\n`)
    const three = await derive(request(new Map([...second, ['agents/main/wire.jsonl', { bytes }]])), two)
    expect(text(three.document)).toBe(expected('22-kimi-dir.step3'))
    expect(three.counters).toMatchObject({ records_parsed: 1, messages_reused: 1 })
  })
})

describe('a sub-agent without records', () => {
  it('has an empty document', async () => {
    const files = heldFiles(new Map([['agents/agent-0/wire.jsonl', { bytes: new Uint8Array() }]]))
    const made = await derive({ harness: 'kimi-code', id: 's', agent: 'agent-0', files })
    expect(JSON.parse(text(made.document))).toMatchObject({ agent: 'agent-0', messages: [], usage: {} })
  })
})
