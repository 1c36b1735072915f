import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMessage, sliceDocument } from '../../../functions/viewer/data/session-document.ts'
import { sessionStack } from '../../../functions/viewer/data/session-stack.ts'
import { describeShared, sharedPath } from '../../kit/shared-folder.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
/** Looks like the canonical form where nothing in it is opaque. */
const documentOf = (messages: object[]) =>
  JSON.stringify(
    { schema: 1, harness: 'codex', id: 'a"\n  "messages": [', messages, usage: {}, counts: {} },
    null,
    2,
  )

describe('a document that is sliced', () => {
  it('gives its messages and the rest, whatever its texts look like', () => {
    const messages = [
      { role: 'user', kind: 'prompt', content: [{ type: 'text', text: '\n    {\n    }\n  ],' }] },
      { role: 'assistant', kind: 'reply', content: [], usage: { input_tokens: 1 } },
    ]
    const { messages: slices, about } = sliceDocument(bytesOf(documentOf(messages)))
    expect(slices.map(readMessage)).toEqual(messages)
    expect({ ...about }).toMatchObject({ schema: 1, id: 'a"\n  "messages": [', messages: [], counts: {} })
  })

  it('keeps the digits and the order of what tools are given', () => {
    const input = '{\n  "10": 1.0,\n  "9": [\n    1E400\n  ]\n}'
    const calls = ['"text"', '{}', input].map((value) => ({
      type: 'tool_use',
      id: 'x',
      name: 'y',
      input: value,
    }))
    const text = documentOf([
      { role: 'assistant', kind: 'reply', content: [{ type: 'text', text: '' }, ...calls] },
    ])
    const raw = text.replaceAll(/"input": ("(?:[^"\\]|\\.)*")/g, (_, value) => {
      return `"input": ${JSON.parse(value).replaceAll('\n', '\n          ')}`
    })
    const [slice] = sliceDocument(bytesOf(raw)).messages
    const { content } = readMessage(slice as Uint8Array)
    expect(content.slice(1).map((block) => 'input' in block && block.input)).toEqual(['"text"', '{}', input])
  })

  it('may be without messages', () => {
    const { messages, about } = sliceDocument(bytesOf(documentOf([])))
    expect(messages).toEqual([])
    expect(about.harness).toBe('codex')
  })

  it.each(['', '{}', documentOf([{ a: 1 }]).slice(0, -60)])(
    'that is cut or is none is refused: %#',
    (text) => {
      expect(() => sliceDocument(bytesOf(text))).toThrow(SyntaxError)
    },
  )

  it('is drawn from so many messages at most, cached tokens counted once whatever the harness', () => {
    const reply = { role: 'assistant', kind: 'reply', content: [] }
    const usage = { input_tokens: 10, cache_read_tokens: 4, output_tokens: 1 }
    const slices = Array.from({ length: 5000 }, () => bytesOf(JSON.stringify({ ...reply, usage })))
    const codex = sessionStack(slices, 'codex')
    expect(codex.x.length).toBeLessThanOrEqual(600)
    expect(codex.bands.map(({ top }) => top[0])).toEqual([4, 10, 11])
    expect(sessionStack(slices, 'kimi-code').bands.map(({ top }) => top[0])).toEqual([4, 14, 15])
  })
})

describeShared('the sample sessions', () => {
  const root = sharedPath('sessions/samples')
  const documents = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('expected.json'),
  )

  it('are sliced into the messages that a parser finds', () => {
    expect(documents.length).toBeGreaterThan(10)
    for (const name of documents) {
      const bytes = new Uint8Array(readFileSync(join(root, name)))
      const whole = JSON.parse(new TextDecoder().decode(bytes))
      const { messages, about } = sliceDocument(bytes)
      const parsed = messages.map(readMessage).map(({ content, ...rest }) => ({
        ...rest,
        content: content.map((block) =>
          block.type === 'tool_use' ? { ...block, input: JSON.parse(block.input) } : block,
        ),
      }))
      expect(parsed, name).toEqual(whole.messages)
      expect({ ...about }, name).toEqual({ ...whole, messages: [] })
    }
  })
})
