import { type Cursor, HOLD } from '../json/cursor.ts'
import { type Shape, writeValue } from './shape.ts'

/** `T[]` of LVR1.md 2. */
export function list<T>(inner: Shape<T>): Shape<readonly T[]> {
  return {
    read(c) {
      if (c.peek() !== 0x5b) c.fail()
      if (c.carried !== 'now' && inner.later !== undefined) {
        const carried = carriedBy(c, inner.later)
        if (carried !== undefined) return carried
      }
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

/** The objects here as they are carried; undefined where anything else is among them. */
function carriedBy<T>(c: Cursor, later: NonNullable<Shape<T>['later']>): readonly T[] | undefined {
  const ends = c.ends()
  if (ends === undefined) return undefined
  const items: T[] = []
  let start = c.at + 1
  if (c.carried === 'counted') items.length = ends.count
  else {
    for (let n = 0; n < ends.count; n++) {
      items.push(later(c.bytes, start, ends.end(n)))
      start = ends.end(n) + 1
    }
  }
  c.at = ends.end(ends.count)
  return items
}
