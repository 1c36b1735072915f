import type * as z from 'zod'
import { Raw } from './raw.ts'
import { compile } from './shape/compile.ts'
import { holdValue } from './shape/held.ts'
import type { Shape } from './shape/shape.ts'

/** A value any part of which may be held already. */
export type Holdable<T> =
  | Raw<T>
  | T
  | (T extends readonly (infer Item)[]
      ? readonly Holdable<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: Holdable<T[Key]> }
        : never)

const shapes = new WeakMap<z.ZodType, Shape<unknown>>()

/** Holds a value made here as its canonical bytes, written by its schema; the secret becomes null. */
export function hold<T>(schema: z.ZodType<T>, value: Holdable<NoInfer<T>>): Raw<T> {
  if (value instanceof Raw) return value as Raw<T>
  let shape = shapes.get(schema)
  if (shape === undefined) {
    shape = compile(schema)
    shapes.set(schema, shape)
  }
  return holdValue(shape as Shape<T>, value)
}
