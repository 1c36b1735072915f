import { isCanonical } from '../json/cursor.ts'
import { Members } from '../json/parse.ts'
import { Token } from '../json/token.ts'
import { type Shape, writeValue } from './shape.ts'

const EMPTY = new Token('{}')

/** An object of free keys whose values all have one shape; of equal keys the last wins (LVR1.md 3.3). */
export function map<T>(inner: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    read(c) {
      if (c.peek() !== 0x7b) c.fail()
      const members = new Members(c)
      c.enter()
      if (c.next() !== 0x7d) {
        for (;;) {
          members.readName(c)
          c.expect(0x3a)
          c.next()
          members.add(inner.read(c))
          if (c.next() === 0x7d) break
          c.expect(0x2c)
          c.next()
        }
      }
      c.leave()
      return members.value() as Readonly<Record<string, T>>
    },
    skip(c) {
      return c.take(EMPTY) || isCanonical(c, this.read)
    },
    write(members, out) {
      out.byte(0x7b)
      let first = true
      for (const [name, value] of members instanceof Map ? members : Object.entries(members)) {
        if (!first) out.byte(0x2c)
        first = false
        out.string(name)
        out.byte(0x3a)
        writeValue(inner, value, out)
      }
      out.byte(0x7d)
    },
  }
}
