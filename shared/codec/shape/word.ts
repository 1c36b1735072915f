import { readShortString } from '../json/string.ts'
import { Token } from '../json/token.ts'
import type { Shape } from './shape.ts'

const NULL = new Token('null')

/** One of a few words. The reference also takes `{"running":null}` for it (LVR1.md 3.1). */
export function word(words: readonly string[]): Shape<string> {
  const known = new Set(words)
  const spelled = words.map((text) => ({ text, token: new Token(JSON.stringify(text)) }))
  const longest = Math.max(...words.map(({ length }) => length))
  return {
    read(c) {
      for (const { text, token } of spelled) if (c.take(token)) return text
      const asObject = c.peek() === 0x7b
      if (asObject) {
        c.canonical = false
        c.enter()
        c.next()
      }
      const text = readShortString(c, longest)
      if (text === undefined || !known.has(text)) return c.fail()
      if (asObject) {
        c.expect(0x3a)
        c.next()
        if (!c.take(NULL) || c.next() !== 0x7d) c.fail()
        c.leave()
      }
      return text
    },
    skip(c) {
      for (const { token } of spelled) if (c.take(token)) return true
      return false
    },
    write(text, out) {
      if (!known.has(text)) throw new TypeError(`one of ${words.join(', ')} is wanted`)
      out.string(text)
    },
  }
}

/** The tag of a tagged structure: this word and no other form of it. */
export function tag(text: string): Shape<string> {
  const token = new Token(JSON.stringify(text))
  return {
    read(c) {
      if (readShortString(c, text.length) !== text) c.fail()
      return text
    },
    skip: (c) => c.take(token),
    write: (_, out) => out.string(text),
  }
}
