import { readShortString } from '../json/string.ts'
import type { Shape } from './shape.ts'

const NULL = new TextEncoder().encode('null')

/** One of a few words. The reference also takes `{"running":null}` for it (LVR1.md 3.1). */
export function word(words: readonly string[]): Shape<string> {
  const known = new Set(words)
  const longest = Math.max(...words.map(({ length }) => length))
  return {
    read(c) {
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
    write(text, out) {
      if (!known.has(text)) throw new TypeError(`one of ${words.join(', ')} is wanted`)
      out.string(text)
    },
  }
}

/** The tag of a tagged structure: this word and no other form of it. */
export function tag(text: string): Shape<string> {
  return {
    read(c) {
      if (readShortString(c, text.length) !== text) c.fail()
      return text
    },
    write: (_, out) => out.string(text),
  }
}
