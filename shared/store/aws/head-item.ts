import type { RunKey } from '../../schema/index.ts'
import type { Head } from '../ports.ts'
import type { Item } from './attribute-value.ts'
import {
  BY_CLAIM,
  BY_DUE,
  claimPartitionOf,
  duePartitionOf,
  HEAD,
  PK,
  runOf,
  runPk,
  SK,
} from './attributes.ts'
import { extentsAttribute, extentsOf } from './extent-text.ts'
import { attributeOf, EXTENTS, FIELDS } from './head-fields.ts'

const NAMES = Object.keys(FIELDS) as (keyof typeof FIELDS)[]

export const headKey = (run: RunKey): Item => ({ [PK]: { S: runPk(run) }, [SK]: { S: HEAD } })

/** The whole item of a head, as the commits that led to it have left it; only their stamp is missing. */
export function headItem(run: RunKey, head: Head): Item {
  const item: Item = { ...headKey(run), [EXTENTS]: extentsAttribute(head.extents) }
  for (const name of NAMES) {
    const attribute = attributeOf(name, head[name], run)
    if (attribute !== undefined) item[FIELDS[name].as] = attribute
  }
  if (head.due_at !== null) item[BY_DUE.partition] = { S: duePartitionOf(run) }
  if (head.claim_at !== null) item[BY_CLAIM.partition] = { S: claimPartitionOf(run) }
  return item
}

/** The head in an item that has room for all of it (long-requires.ts). */
export function headOf(item: Item): Head {
  const run = runOf(item[PK]?.S ?? '')
  const members = NAMES.map((name) => [name, FIELDS[name].read(item[FIELDS[name].as], run)])
  return { ...Object.fromEntries(members), extents: extentsOf(item[EXTENTS]) }
}

/** What the run requires, from its head's item or a row of an index; undefined where it is an item of its own. */
export const requiresIn = (item: Item): readonly string[] | undefined =>
  requiresNameIn(item) === undefined ? FIELDS.requires.read(item[FIELDS.requires.as], runOf('')) : undefined

/** The name of what the run requires, where that is an item of its own (long-requires.ts). */
export const requiresNameIn = (item: Item): string | undefined => item[FIELDS.requires.as]?.S

/** The head's item as it would be if everything had room in it. */
export const withRequires = (item: Item, requires: Item[string]): Item => ({
  ...item,
  [FIELDS.requires.as]: requires,
})
