import * as fc from 'fast-check'
import type * as z from 'zod'
import {
  f32,
  freeJson,
  type Int,
  i64,
  type JournalRecord,
  type Json,
  JsonNumber,
  RECORD_KINDS,
  recordBodies,
  u32,
  usize,
  wire,
} from '#schema'

// Values of any schema of LVR1, for property tests: a new field or kind is covered as soon as the schema has it.

type Schema = z.core.$ZodType

const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    '"\\/\b\f\n\r\t\u0000\u001f\u007f',
    '\u2028\u2029\ufeff',
    '😀 héllo 日本語',
    '__proto__',
  ),
)

const exact = (value: bigint): Int => (Number.isSafeInteger(Number(value)) ? Number(value) : value)

const int = (min: bigint, max: bigint): fc.Arbitrary<Int> =>
  fc.oneof(fc.bigInt({ min: 0n, max: 1000n }), fc.bigInt({ min, max }), fc.constantFrom(min, max)).map(exact)

const number: fc.Arbitrary<Int | JsonNumber> = fc.oneof(
  int(-(2n ** 63n), 2n ** 64n - 1n),
  fc
    .constantFrom('-0', '1.0', '-0.0', '1e2', '1E+2', '0.10', '5e-324', '1.7976931348623157e308')
    .map((spelling) => new JsonNumber(spelling)),
)

/** Names that JavaScript objects treat in ways of their own, and ordinary ones. */
const name = fc.oneof(fc.constantFrom('__proto__', 'constructor', '10', '9', '', 'a'), text)

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    text,
    number,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.uniqueArray(fc.tuple(name, tie('json')), { maxLength: 4, selector: ([key]) => key }).map(objectOf),
  ),
}))

/** Any JSON value, in the form that `parseJson` gives. */
export const anyJson: fc.Arbitrary<Json> = json

function objectOf<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  const object = Object.create(null)
  for (const [key, value] of entries) object[key] = value
  return object
}

const leaves = new Map<Schema, fc.Arbitrary<unknown>>([
  [usize, int(0n, 2n ** 64n - 1n)],
  [i64, int(-(2n ** 63n), 2n ** 63n - 1n)],
  [u32, int(0n, 2n ** 32n - 1n)],
  [f32, fc.float({ noNaN: true, noDefaultInfinity: true })],
  [freeJson, json],
])

/** Any value of a schema; every field is given, as a decoded view gives it. */
export function arbitraryOf<T>(schema: z.ZodType<T>): fc.Arbitrary<T> {
  return valuesOf(schema) as fc.Arbitrary<T>
}

function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const leaf = leaves.get(schema)
  if (leaf !== undefined) return leaf
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'string':
      return text
    case 'boolean':
      return fc.boolean()
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries))
    case 'literal':
      return fc.constantFrom(...def.values)
    case 'default':
    case 'prefault':
      return valuesOf(def.innerType)
    case 'nullable':
      // An explicit null in free JSON reads as absent, so it is no value of its own here.
      return fc.option(
        def.innerType === freeJson ? json.filter((value) => value !== null) : valuesOf(def.innerType),
      )
    case 'array':
      return fc.array(valuesOf(def.element), { maxLength: 3 })
    case 'record':
      return fc
        .uniqueArray(fc.tuple(name, valuesOf(def.valueType)), { maxLength: 3, selector: ([key]) => key })
        .map(objectOf)
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(def.shape).map(([key, field]) => [key, valuesOf(field)])),
      )
    case 'union':
      return fc.oneof(...def.options.map(valuesOf))
    default:
      throw new TypeError(`no arbitrary for a zod ${def.type} (${JSON.stringify(wire.get(schema) ?? {})})`)
  }
}

/** Any record of any kind. */
export const anyRecord: fc.Arbitrary<JournalRecord> = fc.oneof(
  ...RECORD_KINDS.map((kind) =>
    arbitraryOf(recordBodies[kind] as z.ZodType).map(
      (body) => ({ [kind]: body }) as unknown as JournalRecord,
    ),
  ),
)

/** `fc.assert` of a synchronous property: it throws, there is no promise to wait for. */
export function assertProperty<T>(property: fc.IProperty<T>, parameters: fc.Parameters<T> = {}): void {
  void fc.assert(property, parameters)
}
