import { digestOf, jsonBytes } from '../../codec/index.ts'
import type { Value, ValueMap } from '../exact-json.ts'
import { mapOf, textOf } from '../values.ts'

/**
 * What a record and a copy of it have in common: type and payload, whatever the order of names. Of a session_meta only the
 * id, as its times are written anew.
 */
export function identityOf(record: ValueMap): string {
  const meta = metaId(record)
  if (meta !== undefined) return `session_meta ${meta}`
  return digestOf(jsonBytes([record.get('type') ?? null, sorted(record.get('payload') ?? null)]))
}

/** The id that a session_meta tells; undefined for other records. */
export function metaId(record: ValueMap): string | undefined {
  if (record.get('type') !== 'session_meta') return undefined
  return textOf(mapOf(record.get('payload')).get('id')) ?? ''
}

function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted)
  if (!(value instanceof Map)) return value
  const members = [...value].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(members.map(([name, member]) => [name, sorted(member)]))
}
