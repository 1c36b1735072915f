import { Token } from '../json/token.ts'
import type { Shape } from './shape.ts'

const TRUE = new Token('true')
const FALSE = new Token('false')

/** `bool` of LVR1.md 2. */
export const boolean: Shape<boolean> = {
  read(c) {
    if (c.take(TRUE)) return true
    if (c.take(FALSE)) return false
    return c.fail()
  },
  skip: (c) => c.take(TRUE) || c.take(FALSE),
  write(value, out) {
    out.bytes((value ? TRUE : FALSE).bytes)
  },
}
