import * as z from 'zod'

/** How a field or a union is spelled in LVR1 where zod has no word for it. The codec compiles its readers and writers from the schemas and this. */
export interface WireRule {
  /** The key is not written when the value is null, or an empty list. */
  omit?: 'null' | 'empty'
  /** An object with exactly one key, the variant (LVR1.md 2.1, RegionDelta). */
  oneKey?: true
  /** Decoded views hold null in its place (LVR1.md 6h). */
  secret?: true
}

export const wire = z.registry<WireRule>()

/** `T?`: null when missing, written as null. */
export const maybe = <T extends z.ZodType>(schema: T) => schema.nullable().default(null)

/** `T?` that is left out when null. */
export const omitted = <T extends z.ZodType>(schema: T) => {
  const field = schema.nullable().default(null)
  wire.add(field, { omit: 'null' })
  return field
}
