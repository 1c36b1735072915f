import type { Json } from '../../schema/index.ts'
import { readJson, skipJson } from '../json/parse.ts'
import { writeJson } from '../json/write.ts'
import type { Shape } from './shape.ts'

/** Free JSON: checked as a decoded value, spelled as it was but for blanks, escapes and repeated keys. */
export const free: Shape<Json> = {
  read: (c) => readJson(c) as Json,
  skip: skipJson,
  write: (value, out) => writeJson(value, out),
}
