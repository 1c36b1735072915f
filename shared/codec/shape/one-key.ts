import { type Cursor, HOLD } from '../json/cursor.ts'
import { readShortString } from '../json/string.ts'
import { Token } from '../json/token.ts'
import { type Shape, writeValue } from './shape.ts'

/** An object with exactly one key, which says what the value is (LVR1.md 2: records, RegionDelta). */
export function oneKey(variants: ReadonlyMap<string, Shape>): Shape<Readonly<Record<string, unknown>>> {
  const longest = Math.max(...Array.from(variants.keys(), ({ length }) => length))
  const names = Array.from(variants, ([key, shape]) => ({
    key,
    token: new Token(`${JSON.stringify(key)}:`),
    shape,
  }))
  const readKey = (c: Cursor) => {
    for (const { key, token } of names) if (c.take(token)) return key
    const key = readShortString(c, longest) ?? ''
    c.expect(0x3a)
    return key
  }
  return {
    read(c) {
      if (c.peek() !== 0x7b) c.fail()
      c.enter()
      if (c.next() !== 0x22) c.fail()
      const key = readKey(c)
      c.next()
      const variant = variants.get(key)
      if (variant === undefined) return c.fail(true)
      c.name(key)
      const value = variant.read(c)
      c.name('')
      if (c.next() !== 0x7d) c.fail()
      c.leave()
      return c.mode === HOLD ? undefined : { [key]: value }
    },
    skip(c) {
      if (c.peek() !== 0x7b) return false
      c.at++
      c.depth++
      for (const { token, shape } of names) {
        if (!c.take(token)) continue
        if (!shape.skip(c) || c.peek() !== 0x7d) return false
        c.at++
        c.depth--
        return true
      }
      return false
    },
    write(value, out) {
      const [key, ...others] = Object.keys(value)
      const variant = variants.get(key ?? '')
      if (key === undefined || variant === undefined || others.length > 0) {
        throw new TypeError(`exactly one key of ${[...variants.keys()].join(', ')} is wanted`)
      }
      out.byte(0x7b)
      out.string(key)
      out.byte(0x3a)
      writeValue(variant, value[key], out)
      out.byte(0x7d)
    },
  }
}
