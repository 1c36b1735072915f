import { HOLD } from '../json/cursor.ts'
import type { Shape } from './shape.ts'

/** Checks a value and gives nothing: what a scan is made of. */
export function checked(inner: Shape): Shape {
  return {
    read(c) {
      const { mode, at, depth } = c
      if (inner.skip(c)) return undefined
      c.at = at
      c.depth = depth
      c.mode = HOLD
      // Nobody asks how it is spelled, so no memory is spent on finding out.
      c.canonical = false
      inner.read(c)
      c.mode = mode
      return undefined
    },
    skip: (c) => inner.skip(c),
    write: inner.write,
  }
}
