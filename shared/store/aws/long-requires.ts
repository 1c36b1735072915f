import { createHash } from 'node:crypto'
import type { RunKey } from '../../schema/index.ts'
import type { Head } from '../ports.ts'
import { type Item, toAttribute } from './attribute-value.ts'
import { PK, requiresSk, runPk, SK } from './attributes.ts'

// What a run requires can be longer than all the rest of its head, and every append would pay for it. Then it is an item
// of its own, named by its content and written before the head that names it; the head holds the name.

const LONG_BYTES = 512
const NAME_DIGITS = 32

/** Whether it is an item of its own. */
export const isLong = (requires: Head['requires']): boolean =>
  Buffer.byteLength(JSON.stringify(requires)) > LONG_BYTES

/** The name of its item. */
export const requiresName = (requires: Head['requires']): string =>
  createHash('sha256').update(JSON.stringify(requires)).digest('hex').slice(0, NAME_DIGITS)

export const requiresKey = (run: RunKey, name: string): Item => ({
  [PK]: { S: runPk(run) },
  [SK]: { S: requiresSk(name) },
})

export const requiresItem = (run: RunKey, requires: Head['requires']): Item => ({
  ...requiresKey(run, requiresName(requires)),
  requires: toAttribute(requires),
})
