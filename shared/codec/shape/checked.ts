import { HOLD } from '../json/cursor.ts'
import type { Shape } from './shape.ts'

/** Checks a value and gives nothing: what a scan is made of. */
export function checked(inner: Shape): Shape {
  return {
    read(c) {
      const { mode } = c
      c.mode = HOLD
      // Nobody asks how it is spelled, so no memory is spent on finding out.
      c.canonical = false
      inner.read(c)
      c.mode = mode
      return undefined
    },
    write: inner.write,
  }
}
