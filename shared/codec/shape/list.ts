import { HOLD } from '../json/cursor.ts'
import { type Shape, writeValue } from './shape.ts'

export function list<T>(inner: Shape<T>): Shape<readonly T[]> {
  return {
    read(c) {
      if (c.peek() !== 0x5b) c.fail()
      const items: T[] = []
      c.enter()
      if (c.next() !== 0x5d) {
        for (;;) {
          const item = inner.read(c)
          if (c.mode !== HOLD) items.push(item as T)
          if (c.next() === 0x5d) break
          c.expect(0x2c)
          c.next()
        }
      }
      c.leave()
      return items
    },
    skip(c) {
      if (c.peek() !== 0x5b) return false
      c.at++
      c.depth++
      let byte = c.peek()
      while (byte !== 0x5d) {
        if (!inner.skip(c)) return false
        byte = c.peek()
        if (byte === 0x2c && c.bytes[++c.at] !== 0x5d) continue
        if (byte !== 0x5d) return false
      }
      c.at++
      c.depth--
      return true
    },
    write(items, out) {
      out.byte(0x5b)
      items.forEach((item, index) => {
        if (index > 0) out.byte(0x2c)
        writeValue(inner, item, out)
      })
      out.byte(0x5d)
    },
  }
}
