import { Token } from '../json/token.ts'
import type { Shape } from './shape.ts'

const NULL = new Token('null')

/** `T?` of LVR1.md 2. */
export function nullable<T>(inner: Shape<T>): Shape<T | null> {
  return {
    read: (c) => (c.peek() === 0x6e && c.take(NULL) ? null : inner.read(c)),
    skip: (c) => (c.peek() === 0x6e ? c.take(NULL) : inner.skip(c)),
    write(value, out) {
      if (value === null) out.bytes(NULL.bytes)
      else inner.write(value, out)
    },
  }
}
