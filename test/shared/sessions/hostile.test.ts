import { describe, expect, it } from 'vitest'
import { derive, heldFiles } from '../../kit/session-files.ts'

// What no harness should write, and what is shown of it (SESSIONS.md 4.0 and 8).

const encoder = new TextEncoder()

function claude(...parts: (string | Uint8Array)[]) {
  const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part)))
  return { harness: 'claude-code', id: 's', files: heldFiles(new Map([['s.jsonl', { bytes }]])) } as const
}

const user = (content: string, more = '') => `{"type":"user","message":{"content":${content}}${more}}\n`

/** The document as a strict parser reads it. */
async function documentOf(...parts: (string | Uint8Array)[]) {
  const { document } = await derive(claude(...parts))
  const text = new TextDecoder('utf-8', { fatal: true }).decode(document)
  return { text, value: JSON.parse(text) }
}

describe('hostile records', () => {
  it('of many megabytes are passed over with line, offset and bytes, and the rest is shown', async () => {
    const long = new Uint8Array(100 * 1024 * 1024).fill(0x61)
    const { value } = await documentOf(
      user('"before"'),
      '{"type":"user","x":"',
      long,
      '"}\n',
      user('"behind"'),
    )
    const texts = value.messages.map((message: { content: [{ text: string }] }) => message.content[0].text)
    expect(texts).toEqual(['before', 'behind'])
    const offset = user('"before"').length
    const bad = { code: 'bad_json', path: 's.jsonl', line: 2, offset, bytes: long.length + 22 }
    expect(value.problems).toEqual([bad])
    expect(value.counts).toMatchObject({ records: 2, bad_lines: 1, problems: 1 })
  })

  it('may hold texts that are longer than a stretch, with characters on its edges', async () => {
    const long = `${'x'.repeat(65_535)}🌊${'\u0001"\\'.repeat(40_000)}`
    const { value } = await documentOf(user(JSON.stringify(long)))
    expect(value.messages[0].content[0].text).toBe(long)
  })

  it('nest up to 512 levels, and no deeper', async () => {
    const nested = (levels: number) =>
      `{"type":"user","toolUseResult":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}\n`
    const { value } = await documentOf(nested(512), nested(513), nested(100_000))
    expect(value.counts).toMatchObject({ records: 1, bad_lines: 2 })
    expect(value.problems.map(({ line }: { line: number }) => line)).toEqual([2, 3])
  })

  it('keep every digit, name and place of what is opaque', async () => {
    const opaque =
      '{"__proto__":{"polluted":1},"10":1.0,"9":-0,"x":1E400,"constructor":9007199254740993,"10":2.50}'
    const { text } = await documentOf(user('"x"', `,"toolUseResult":${opaque}`))
    const at = text.indexOf('"toolUseResult"')
    expect(text.slice(at, text.indexOf('\n    }\n  ]', at)).replace(/\s+/g, ' ')).toContain(
      '{ "__proto__": { "polluted": 1 }, "10": 2.50, "9": -0, "x": 1E400, "constructor": 9007199254740993 }',
    )
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('with halves of surrogate pairs, or bytes that are no UTF-8, give a document that is', async () => {
    const broken = Uint8Array.of(0xed, 0xa0, 0xbd, 0xff, 0xc3)
    const { value } = await documentOf(
      user('"\\ud83d and \\ude00 and \\ud83d\\ude00"'),
      '{"type":"user","message":{"content":"',
      broken,
      '"}}\n',
    )
    expect(value.messages[0].content[0].text).toBe('\ufffd and \ufffd and 😀')
    expect(value.messages[1].content[0].text).toMatch(/^\ufffd+$/)
    expect(value.problems).toMatchObject([{ code: 'invalid_utf8', line: 2 }])
  })

  it('that are no objects are bad lines, each with its reason', async () => {
    const { value } = await documentOf(
      '[]\n',
      '1\n',
      'null\n',
      '"x"\n',
      '{"a":01}\n',
      "{'a':1}\n",
      '{"a":1,}\n',
      '\u0000\n',
    )
    const codes = value.problems.map(({ code }: { code: string }) => code)
    expect(codes.slice(0, 4)).toEqual(Array(4).fill('not_an_object'))
    expect(codes.slice(4)).toEqual(['bad_json', 'bad_json', 'bad_json', 'nul_padding'])
    expect(value.counts).toMatchObject({ records: 0, bad_lines: 8, problems: 8 })
  })

  it('list a hundred problems and count them all', async () => {
    const { value } = await documentOf('x\n'.repeat(250))
    expect(value.problems).toHaveLength(100)
    expect(value.counts).toMatchObject({ bad_lines: 250, problems: 250 })
  })

  it('cannot make a sum of a gigabyte', async () => {
    const usage = (tokens: string) => {
      const message = `{"content":"x","usage":{"input_tokens":${tokens}}}`
      return `{"type":"user","uuid":"${tokens}","message":${message}}\n`
    }
    const { text, value } = await documentOf(
      ...['1e999999999', '1.5', '1e2', '2.50e1', '18446744073709551616'].map(usage),
    )
    expect(text).toContain('"input_tokens": 18446744073709551741')
    expect(text).toContain('"input_tokens": 1e999999999')
    expect(value.counts.messages).toBe(5)
  })

  it('cost what they are long, also where a pattern looks at them', async () => {
    const zeros = `1${'0'.repeat(300_000)}1`
    const dots = `a${'.'.repeat(300_000)}b`
    const { value } = await documentOf(
      `{"type":"user","message":{"content":"x","usage":{"input_tokens":${zeros}}}}\n`,
      user(`[{"type":"tool_result","tool_use_id":"t","content":"<persisted-output> tool-results/${dots}"}]`),
      `{"type":"user","timestamp":"${'1'.repeat(300_000)}","message":{"content":"${' '.repeat(300_000)}"}}\n`,
    )
    expect(value.counts).toMatchObject({ messages: 3, problems: 0 })
    expect(value.usage).toEqual({})
  })

  it('never open what a record names', async () => {
    const names = ['../../etc/passwd', '..\\\\x', '/abs', '.hidden', 'a/../b']
    const results = names.map((name) =>
      user(`[{"type":"tool_result","tool_use_id":"t","content":"<persisted-output> tool-results/${name}"}]`),
    )
    const { inputs } = await derive(claude(...results))
    const paths = inputs.map((input) => ('path' in input ? input.path : ''))
    expect(paths.filter((path) => path.includes('..') || path.includes('passwd'))).toEqual([])
  })
})
