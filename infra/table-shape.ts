import type { AttributeType, GlobalSecondaryIndexProps, ProjectionType } from 'aws-cdk-lib/aws-dynamodb'
import { tableDefinition } from '#store/aws'

const definition = tableDefinition('')

/** What the store says of its table (`shared/store/aws/table.ts`), in CDK's words: the shape is said once. */
export const tableKeys = keysOf(definition.KeySchema)

export const tableIndexes: GlobalSecondaryIndexProps[] = (definition.GlobalSecondaryIndexes ?? []).map(
  ({ IndexName, KeySchema, Projection }) => ({
    indexName: known(IndexName),
    ...keysOf(KeySchema),
    projectionType: known(Projection?.ProjectionType) as ProjectionType,
    ...(Projection?.NonKeyAttributes && { nonKeyAttributes: Projection.NonKeyAttributes }),
  }),
)

function keysOf(schema: typeof definition.KeySchema) {
  const of = (type: 'HASH' | 'RANGE') => {
    const name = known(schema?.find(({ KeyType }) => KeyType === type)?.AttributeName)
    const found = definition.AttributeDefinitions?.find(({ AttributeName }) => AttributeName === name)
    return { name, type: known(found?.AttributeType) as AttributeType }
  }
  return { partitionKey: of('HASH'), sortKey: of('RANGE') }
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the table definition lacks a part that a table needs')
  return value
}
