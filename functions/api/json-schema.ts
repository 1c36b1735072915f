import * as z from 'zod'
import * as schema from '#schema'

type Shape = z.core.JSONSchema.BaseSchema

/** The shapes that have a name in the OpenAPI document; whatever holds them refers to it. */
const names = z.registry<{ id: string }>()
const NAMED = {
  Problem: schema.problem,
  Lease: schema.lease,
  LeaseAnswer: schema.leaseAnswer,
  Card: schema.card,
  RunMeta: schema.runMeta,
  ContextSnapshot: schema.contextSnapshot,
  ContextDelta: schema.contextDelta,
  JournalRecord: schema.journalRecord,
}
for (const [id, shape] of Object.entries(NAMED)) names.add(shape, { id })

/** JSON Schema of what is sent (`input`) or answered (`output`). */
export function shapeOf(shape: z.ZodType, io: 'input' | 'output'): Shape {
  const { $schema, $defs, ...rest } = z.toJSONSchema(shape, { ...optionsFor(io), metadata: names })
  // zod keeps named shapes beside each schema; in the document they stand once, among the components.
  return JSON.parse(JSON.stringify(rest).replaceAll('"#/$defs/', '"#/components/schemas/'))
}

export function namedShapes(): Record<string, Shape> {
  const { schemas } = z.toJSONSchema(names, {
    ...optionsFor('output'),
    uri: (id) => `#/components/schemas/${id}`,
  })
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...shape }]) => [id, shape]))
}

const QUERY_INTEGER = '^(0|[1-9][0-9]{0,15})$'

const optionsFor = (io: 'input' | 'output') => ({
  io,
  unrepresentable: 'any' as const,
  override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Shape }) => {
    if (jsonSchema.pattern === QUERY_INTEGER) {
      replace(jsonSchema, { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
    }
    if (isInteger(zodSchema)) replace(jsonSchema, { type: 'integer' })
    // Fields may be added to answers, and no client may break at one.
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
  },
})

/** Exact integers are a number or a bigint to us and one thing to JSON. */
const isInteger = ({ _zod: { def } }: z.core.$ZodType) =>
  def.type === 'union' &&
  (def as z.core.$ZodUnionDef).options.some((option) => option._zod.def.type === 'bigint')

function replace(shape: Shape, by: Shape): void {
  for (const key of Object.keys(shape)) delete shape[key]
  Object.assign(shape, by)
}
