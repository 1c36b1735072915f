import type { AttributeValue, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import type { RunKey } from '../../schema/index.ts'
import type { Expectation, Head, HeadChange } from '../ports.ts'
import { BY_CLAIM, BY_DUE, claimPartitionOf, duePartitionOf, PK, STAMP } from './attributes.ts'
import { extentsAttribute, extentText, identityOf, startOf } from './extent-text.ts'
import { attributeOf, EXPIRY_PLACE, EXTENTS, FIELDS } from './head-fields.ts'
import { headKey } from './head-item.ts'

/** Names and values of one expression; every name goes through `#`, since any may be a reserved word. */
class Terms {
  readonly run: RunKey
  readonly names: Record<string, string> = {}
  readonly values: Record<string, AttributeValue> = {}

  constructor(run: RunKey) {
    this.run = run
  }

  name(attribute: string, alias = `#${attribute}`): string {
    this.names[alias] = attribute
    return alias
  }

  member(name: keyof typeof FIELDS): string {
    return this.name(FIELDS[name].as, `#${name}`)
  }

  extents(): string {
    return this.name(EXTENTS, '#extents')
  }

  /** The place of one extent, by its name in the head. */
  extent(name: string): string {
    return `${this.extents()}.${this.name(startOf(name), `#at_${startOf(name)}`)}`
  }

  value(alias: string, value: AttributeValue): string {
    this.values[alias] = value
    return alias
  }
}

/** The named parts a condition is made of, one for each member of an expectation. */
const PARTS: {
  [K in keyof Required<Expectation>]: (wanted: Required<Expectation>[K], terms: Terms) => string
} = {
  absent: (_, terms) => `attribute_not_exists(${terms.name(PK)})`,
  alive: (wanted, terms) => sameMember('alive', wanted, terms),
  life: (wanted, terms) => sameMember('life', wanted, terms),
  epoch: (wanted, terms) => sameMember('epoch', wanted, terms),
  tail: (wanted, terms) => sameMember('tail', wanted, terms),
  sweep: (wanted, terms) => sameMember('sweep', wanted, terms),
  due_at: (wanted, terms) => sameMember('due_at', wanted, terms),
  held: (wanted, terms) =>
    `${wanted ? 'attribute_exists' : 'attribute_not_exists'}(${terms.member('lease')})`,
  lease_expires_at: (wanted, terms) =>
    wanted === null
      ? PARTS.held(false, terms)
      : `${terms.member('lease')}[${EXPIRY_PLACE}] = ${terms.value(':was_expires_at', { N: String(wanted) })}`,
  extents: (wanted, terms) =>
    Object.entries(wanted)
      .map(([name, extent]) => {
        const identity = terms.value(`:was_${startOf(name)}`, { S: identityOf(extent) })
        return `begins_with(${terms.extent(name)}, ${identity})`
      })
      .join(' AND '),
}

function sameMember<K extends 'alive' | 'life' | 'epoch' | 'tail' | 'sweep' | 'due_at'>(
  name: K,
  wanted: Head[K],
  terms: Terms,
): string {
  const attribute = attributeOf(name, wanted, terms.run)
  if (attribute === undefined) return `attribute_not_exists(${terms.member(name)})`
  return `${terms.member(name)} = ${terms.value(`:was_${name}`, attribute)}`
}

function conditionOf(expect: Expectation, terms: Terms): string {
  // An update makes an item where there is none; only `absent` may.
  const exists = expect.absent ? [] : [`attribute_exists(${terms.name(PK)})`]
  const parts = Object.entries(expect)
    .filter(([, wanted]) => wanted !== undefined)
    .map(([name, wanted]) => PARTS[name as keyof Expectation](wanted as never, terms))
  return [...exists, ...parts.filter((part) => part !== '')].join(' AND ')
}

function updateOf(change: HeadChange, stamp: string, terms: Terms): string {
  const sets = [`${terms.name(STAMP)} = ${terms.value(':stamp', { S: stamp })}`]
  const removes: string[] = []
  const put = (path: string, alias: string, value: AttributeValue | undefined) => {
    if (value === undefined) removes.push(path)
    else sets.push(`${path} = ${terms.value(alias, value)}`)
  }
  for (const [member, value] of Object.entries(change.set)) {
    const name = member as keyof typeof FIELDS
    if (value !== undefined) put(terms.member(name), `:${name}`, attributeOf(name, value as never, terms.run))
  }
  const { due_at, claim_at } = change.set
  // Without its time the item leaves an index.
  if (due_at !== undefined) {
    put(terms.name(BY_DUE.partition), ':due', due_at === null ? undefined : { S: duePartitionOf(terms.run) })
  }
  if (claim_at !== undefined) {
    const claim = claim_at === null ? undefined : { S: claimPartitionOf(terms.run) }
    put(terms.name(BY_CLAIM.partition), ':claim', claim)
  }
  if (change.extents) put(terms.extents(), ':extents', extentsAttribute(change.extents))
  for (const [name, extent] of Object.entries(change.add ?? {})) {
    put(terms.extent(name), `:at_${startOf(name)}`, { S: extentText(extent) })
  }
  // A merged extent stands where the first of its sources stood; one update may name a path only once.
  for (const name of change.drop ?? []) if (!(name in (change.add ?? {}))) removes.push(terms.extent(name))
  return `SET ${sets.join(', ')}${removes.length > 0 ? ` REMOVE ${removes.join(', ')}` : ''}`
}

/** The one conditional update a commit is. Its stamp stays on the item until the next. */
export function headUpdate(
  table: string,
  run: RunKey,
  expect: Expectation,
  change: HeadChange,
  stamp: string,
): UpdateItemCommandInput {
  const terms = new Terms(run)
  return {
    TableName: table,
    Key: headKey(run),
    ConditionExpression: conditionOf(expect, terms),
    UpdateExpression: updateOf(change, stamp, terms),
    ExpressionAttributeNames: terms.names,
    ExpressionAttributeValues: terms.values,
  }
}
