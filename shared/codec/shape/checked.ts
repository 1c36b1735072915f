import { type Cursor, HOLD } from '../json/cursor.ts'
import type { Shape } from './shape.ts'

/** Checks a value and gives nothing: what a scan is made of. */
export function checked(inner: Shape): Shape {
  return {
    read: (c) => void check(inner, c),
    skip: (c) => inner.skip(c),
    write: inner.write,
  }
}

/** Goes over a value however it is spelled. @throws Mismatch */
export function check(shape: Shape, c: Cursor): void {
  const { mode, at, depth } = c
  if (shape.skip(c)) return
  c.at = at
  c.depth = depth
  c.mode = HOLD
  // Nobody asks how it is spelled, so no memory is spent on finding out.
  c.canonical = false
  shape.read(c)
  c.mode = mode
}
