import type { Block, SessionAbout, SessionMessage } from './transcript.ts'

/** A canonical document (SESSIONS.md 2), its messages left as bytes until somebody looks at them. */
export interface SlicedDocument {
  readonly messages: readonly Uint8Array[]
  /** Everything but the messages. */
  readonly about: SessionAbout
}

const LF = 0x0a
const SPACE = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * Finds the messages of a document without parsing it: in the canonical form each one begins with a line `    {` and ends
 * with a line `    }`, strings hold no line ends, and everything inside stands further in. So 100 MB are sliced in a moment.
 *
 * @throws SyntaxError where it is no canonical document
 */
export function sliceDocument(bytes: Uint8Array): SlicedDocument {
  const key = placeOf(bytes, '\n  "messages": [')
  if (key < 0) throw new SyntaxError('the document has no messages')
  const messages: Uint8Array[] = []
  let start = -1
  let line = key
  for (;;) {
    if (bytes[line] === 0x5d) break // `[]`
    line = bytes.indexOf(LF, line) + 1
    if (line === 0) throw new SyntaxError('the document breaks off')
    const indent = indentOf(bytes, line)
    if (indent === 2) break
    const mark = bytes[line + 4]
    if (indent !== 4) continue
    if (mark === OPEN) start = line + 4
    else if (mark === CLOSE) messages.push(bytes.subarray(start, line + 5))
  }
  const head = new TextDecoder().decode(bytes.subarray(0, key))
  const rest = new TextDecoder().decode(bytes.subarray(bytes.indexOf(0x5d, line)))
  return { messages, about: JSON.parse(head + rest) as SessionAbout }
}

/**
 * A message. Inputs of tools are opaque, with digits and an order of names that no parsed value keeps (the exact-digit rule
 * of SESSIONS.md 2), so they are given as the text they are.
 */
export function readMessage(slice: Uint8Array): SessionMessage {
  const text = new TextDecoder().decode(slice)
  const message = JSON.parse(text) as SessionMessage
  if (!message.content.some(({ type }) => type === 'tool_use')) return message
  const inputs = inputTexts(text)
  const content = message.content.map(
    (block): Block => (block.type === 'tool_use' ? { ...block, input: inputs.next().value ?? '' } : block),
  )
  return { ...message, content }
}

const BLOCK_KEY = ' '.repeat(10)

/** The values of `input` in the blocks of a message, which stand ten blanks in, as canonical text. */
function* inputTexts(message: string): Generator<string, undefined> {
  const lines = message.slice(0, message.indexOf('\n      ]')).split('\n')
  for (let n = 0; n < lines.length; n++) {
    const first = lines[n] as string
    if (!first.startsWith(`${BLOCK_KEY}"input": `)) continue
    const value = [first.slice(BLOCK_KEY.length + '"input": '.length)]
    const isOpen = /[{[]$/.test(first)
    for (let more = isOpen; more; ) {
      const line = (lines[++n] ?? '').slice(BLOCK_KEY.length)
      value.push(line)
      more = line.startsWith(' ') && n < lines.length
    }
    yield value.join('\n').replace(/,$/, '')
  }
}

/** Where what follows the text begins; −1 where it is not there. */
function placeOf(bytes: Uint8Array, text: string): number {
  const wanted = new TextEncoder().encode(text)
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (wanted.every((byte, n) => bytes[at + n] === byte)) return at + wanted.length
  }
  return -1
}

function indentOf(bytes: Uint8Array, line: number): number {
  let indent = 0
  while (bytes[line + indent] === SPACE) indent++
  return indent
}
