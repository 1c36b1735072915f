import type * as z from 'zod'
import { type Entry, entry, entryCall, type RunMeta, runMeta } from '../schema/index.ts'
import { Cursor } from './json/cursor.ts'
import { LaterRaw, type Raw } from './raw.ts'
import { compile } from './shape/compile.ts'
import type { Shape } from './shape/shape.ts'
import { only, type Struct } from './shape/struct.ts'

// A little of what is held, without decoding all of it.

const metaShape = compile(runMeta)
const entryShape = compile(entry as z.ZodType<Entry>, (schema, shape) =>
  schema === entryCall ? only(shape as Struct, 'id') : shape,
)

/** Some fields of a held RunMeta, in less time than all of them take. */
export function pickMeta<Name extends keyof RunMeta>(
  meta: Raw<RunMeta>,
  ...names: readonly Name[]
): Pick<RunMeta, Name> {
  return pick(metaShape, meta, names)
}

/** The ids of the tool calls that a held entry shows; only an AssistantTurn has any. Its texts and arguments are passed over. */
export function callIds(held: Raw<Entry>): readonly string[] {
  const { kind } = pick(entryShape, held, ['kind'])
  return kind.type === 'AssistantTurn' ? kind.tool_calls.map(({ id }) => id) : []
}

function pick<T, Name extends keyof T>(
  shape: Shape<T>,
  held: Raw<T>,
  names: readonly (Name & string)[],
): Pick<T, Name> {
  const struct = shape as unknown as Struct
  // What was not looked at yet need not be for this, if it begins as it would canonically.
  const asSpelled = held instanceof LaterRaw ? struct.pick(trusting(held.spelled), names, false) : undefined
  return (asSpelled ?? struct.pick(trusting(held.bytes), names, true)) as Pick<T, Name>
}

function trusting(bytes: Uint8Array): Cursor {
  const c = new Cursor(bytes)
  c.trusted = true
  return c
}
