import type * as z from 'zod'
import { f32, freeJson, i64, u32, usize, wire } from '../../schema/index.ts'
import { boolean } from './boolean.ts'
import { float } from './float.ts'
import { free } from './free.ts'
import { integer } from './integer.ts'
import { list } from './list.ts'
import { map } from './map.ts'
import { nullable } from './nullable.ts'
import { oneKey } from './one-key.ts'
import type { Shape } from './shape.ts'
import { string } from './string.ts'
import { type Field, Struct } from './struct.ts'
import { tagged } from './tagged.ts'
import { tag, word } from './word.ts'

type Schema = z.core.$ZodType

/** Puts another shape in the place of a schema's own, so that one schema gives several readers (decoded, held, scanned). */
export type Wrap = (schema: Schema, shape: Shape) => Shape

/** Schemas that zod cannot tell apart; each is known by being the very object that schema/json.ts exports. */
const leaves = new Map<Schema, Shape>([
  [usize, integer(0n, 2n ** 64n - 1n)],
  [i64, integer(-(2n ** 63n), 2n ** 63n - 1n)],
  [u32, integer(0n, 2n ** 32n - 1n)],
  [f32, float],
  [freeJson, free],
] as [Schema, Shape][])

const asIs: Wrap = (_, shape) => shape

/** The reader and writer of a schema of shared/schema; its objects' fields stand in wire order. */
export function compile<T>(schema: z.ZodType<T>, wrap: Wrap = asIs): Shape<T> {
  return shapeOf(schema, wrap) as unknown as Shape<T>
}

function shapeOf(schema: Schema, wrap: Wrap): Shape {
  return wrap(schema, leaves.get(schema) ?? shapeByDef(schema, wrap))
}

function shapeByDef(schema: Schema, wrap: Wrap): Shape {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'string':
      return string
    case 'boolean':
      return boolean
    case 'enum':
      return word(Object.values(def.entries).map(String))
    case 'literal':
      return tag(String(def.values[0]))
    case 'default':
    case 'prefault':
      return shapeOf(def.innerType, wrap)
    case 'nullable':
      return nullable(shapeOf(def.innerType, wrap))
    case 'array':
      return list(shapeOf(def.element, wrap))
    case 'record':
      return map(shapeOf(def.valueType, wrap))
    case 'object':
      return new Struct(Object.entries(def.shape).map(([name, field]) => fieldOf(name, field, wrap)))
    case 'union':
      return unionOf(schema, def, wrap)
    default:
      throw new TypeError(`LVR1 has no shape for a zod ${def.type}`)
  }
}

function fieldOf(name: string, schema: Schema, wrap: Wrap): Field {
  const rule = wire.get(schema)
  const { type } = (schema as z.core.$ZodTypes)._zod.def
  const hasDefault = type === 'default' || type === 'prefault'
  return {
    name,
    shape: shapeOf(schema, wrap),
    fallback: hasDefault ? frozen((schema as z.ZodType).parse(undefined)) : undefined,
    omit: rule?.omit,
    secret: rule?.secret === true,
  }
}

function unionOf(schema: Schema, def: z.core.$ZodUnionDef, wrap: Wrap): Shape {
  const shapes = def.options.map((option) => (option as z.core.$ZodObject)._zod.def.shape)
  if (wire.get(schema)?.oneKey === true) {
    return oneKey(
      new Map(shapes.flatMap(Object.entries).map(([key, body]) => [key, shapeOf(body as Schema, wrap)])),
    )
  }
  const key = (def as z.core.$ZodDiscriminatedUnionDef).discriminator
  const tagOf = (shape: z.core.$ZodShape) => String((shape[key] as z.core.$ZodLiteral)._zod.def.values[0])
  return tagged(
    key,
    new Map(
      def.options.map((option, i) => [tagOf(shapes[i] as z.core.$ZodShape), shapeOf(option, wrap) as Struct]),
    ),
  )
}

/** Defaults are shared by all records that lack the field, so nobody may change one. */
function frozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member)
    Object.freeze(value)
  }
  return value
}
