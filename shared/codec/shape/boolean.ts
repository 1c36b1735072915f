import type { Shape } from './shape.ts'

const encoder = new TextEncoder()
const TRUE = encoder.encode('true')
const FALSE = encoder.encode('false')

export const boolean: Shape<boolean> = {
  read(c) {
    if (c.take(TRUE)) return true
    if (c.take(FALSE)) return false
    return c.fail()
  },
  skip: (c) => c.take(TRUE) || c.take(FALSE),
  write(value, out) {
    out.bytes(value ? TRUE : FALSE)
  },
}
