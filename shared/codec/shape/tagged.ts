import type { Cursor } from '../json/cursor.ts'
import { readShortString } from '../json/string.ts'
import { Token } from '../json/token.ts'
import type { Shape } from './shape.ts'
import type { Struct } from './struct.ts'

/** A structure whose field `key`, the first in wire order, says which of several it is; the tag may stand anywhere, or first in an array. */
export function tagged(key: string, variants: ReadonlyMap<string, Struct>): Shape<Record<string, unknown>> {
  const longest = Math.max(key.length, ...Array.from(variants.keys(), ({ length }) => length))
  const openings = Array.from(variants, ([tag, variant]) => ({
    token: new Token(`{${JSON.stringify(key)}:${JSON.stringify(tag)}`),
    variant,
  }))
  const variantOf = (tag: unknown) => variants.get(tag as string)
  return {
    read(c) {
      const variant = variantOf(findTag(c, key, longest))
      return variant === undefined ? c.fail() : variant.read(c)
    },
    skip(c) {
      for (const { token, variant } of openings) {
        if (!c.take(token)) continue
        return variant.skip(c, 1)
      }
      return false
    },
    write(value, out) {
      const variant = variantOf(value[key])
      if (variant === undefined) throw new TypeError(`${key} is none of ${[...variants.keys()].join(', ')}`)
      variant.write(value, out)
    },
  }
}

/** Looks ahead for the tag and goes back; whatever else is wrong is found when the variant is read. */
function findTag(c: Cursor, key: string, longest: number): string | undefined {
  const { at, depth, canonical } = c
  const asArray = c.peek() === 0x5b
  if (!asArray && c.peek() !== 0x7b) return undefined
  c.enter()
  let found: string | undefined
  while (found === undefined && c.next() === 0x22) {
    const name = readShortString(c, longest)
    if (asArray) {
      found = name
      break
    }
    c.expect(0x3a)
    c.next()
    if (name === key) found = readShortString(c, longest)
    else {
      c.skip()
      if (c.next() !== 0x2c) break
      c.at++
    }
  }
  c.at = at
  c.depth = depth
  c.canonical = canonical
  return found
}
