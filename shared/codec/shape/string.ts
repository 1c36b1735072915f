import { HOLD } from '../json/cursor.ts'
import { readString, scanString, skipString } from '../json/string.ts'
import type { Shape } from './shape.ts'

/** `str` of LVR1.md 2. */
export const string: Shape<string> = {
  read(c) {
    if (c.mode !== HOLD) return readString(c)
    scanString(c)
    return undefined
  },
  skip: skipString,
  write(text, out) {
    if (!text.isWellFormed()) throw new TypeError('a text with half a surrogate pair cannot be written')
    out.string(text)
  },
}
