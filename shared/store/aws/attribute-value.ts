import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Int } from '../../schema/index.ts'

/** Attributes by name. */
export type Item = Record<string, AttributeValue>

/** What we keep in DynamoDB: text, flags, whole numbers up to 64 bits with every digit, and lists and maps of them. */
export type Plain = null | boolean | string | Int | readonly Plain[] | { readonly [name: string]: Plain }

/** The attribute that holds the value. */
export function toAttribute(value: Plain): AttributeValue {
  if (value === null) return { NULL: true }
  switch (typeof value) {
    case 'boolean':
      return { BOOL: value }
    case 'string':
      return { S: value }
    case 'number':
    case 'bigint':
      return { N: String(value) }
  }
  if (Array.isArray(value)) return { L: value.map(toAttribute) }
  return { M: Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toAttribute(inner)])) }
}

/** The value that an attribute of ours holds, whole numbers with every digit. */
export function fromAttribute(attribute: AttributeValue): Plain {
  if (attribute.BOOL !== undefined) return attribute.BOOL
  if (attribute.S !== undefined) return attribute.S
  if (attribute.N !== undefined) return exact(attribute.N)
  if (attribute.L !== undefined) return attribute.L.map(fromAttribute)
  if (attribute.M === undefined) return null
  return Object.fromEntries(Object.entries(attribute.M).map(([name, inner]) => [name, fromAttribute(inner)]))
}

function exact(digits: string): Int {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : BigInt(digits)
}
