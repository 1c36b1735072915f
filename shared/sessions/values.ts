import { JsonNumber } from '../schema/index.ts'
import type { Value, ValueMap } from './exact-json.ts'

// Fields of a record. One of another JSON type than expected counts as absent (SESSIONS.md 2).

const NONE: ValueMap = new Map()

/** A non-empty string. */
export function textOf(value: Value | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** An object; an empty one for anything else. */
export function mapOf(value: Value | undefined): ValueMap {
  return value instanceof Map ? value : NONE
}

/** An array; an empty one for anything else. */
export function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? value : []
}

export function numberOf(value: Value | undefined): JsonNumber | undefined {
  return value instanceof JsonNumber ? value : undefined
}

/** Anything but null, to be copied as it is. */
export function opaque(value: Value | undefined): Value | undefined {
  return value === null ? undefined : value
}

/**
 * The text in memory of its own. A part of a record's text would keep the whole line for as long as it is kept itself: what
 * outlives its record must go through here.
 */
export function detached(text: string): string {
  return decoder.decode(encoder.encode(text))
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
