import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { BY_CLAIM, BY_CREATION, BY_DUE, PK, SK } from './attributes.ts'
import { FIELDS } from './head-fields.ts'
import { asking, isNamed } from './sdk-error.ts'

const CREATION_S = 60

/**
 * The table as CreateTable wants it; infra reads the same constants. An append changes no attribute of `by_creation`,
 * which lies on cards, nor of `by_due` and `by_claim` while their times stay, so it pays for one item only.
 */
export const tableDefinition = (name: string): CreateTableCommandInput => ({
  TableName: name,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: PK, AttributeType: 'S' },
    { AttributeName: SK, AttributeType: 'S' },
    { AttributeName: BY_CREATION.partition, AttributeType: 'S' },
    { AttributeName: BY_CREATION.sort, AttributeType: 'S' },
    { AttributeName: BY_DUE.partition, AttributeType: 'S' },
    { AttributeName: BY_DUE.sort, AttributeType: 'N' },
    { AttributeName: BY_CLAIM.partition, AttributeType: 'S' },
    { AttributeName: BY_CLAIM.sort, AttributeType: 'N' },
  ],
  KeySchema: keys(PK, SK),
  GlobalSecondaryIndexes: [
    {
      IndexName: BY_CREATION.name,
      KeySchema: keys(BY_CREATION.partition, BY_CREATION.sort),
      Projection: { ProjectionType: 'ALL' },
    },
    {
      IndexName: BY_DUE.name,
      KeySchema: keys(BY_DUE.partition, BY_DUE.sort),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
    {
      IndexName: BY_CLAIM.name,
      KeySchema: keys(BY_CLAIM.partition, BY_CLAIM.sort),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [FIELDS.requires.as] },
    },
  ],
})

function keys(partition: string, sort: string): CreateTableCommandInput['KeySchema'] {
  return [
    { AttributeName: partition, KeyType: 'HASH' },
    { AttributeName: sort, KeyType: 'RANGE' },
  ]
}

/** Makes the table where there is none, for local stores; in AWS infra makes it. Resolves when it can be used. */
export async function ensureTable(client: DynamoDBClient, name: string): Promise<void> {
  await asking('making the table', async () => {
    await client.send(new CreateTableCommand(tableDefinition(name))).catch((error: unknown) => {
      if (!isNamed(error, 'ResourceInUseException')) throw error
    })
    await waitUntilTableExists(
      { client, maxWaitTime: CREATION_S, minDelay: 1, maxDelay: 2 },
      { TableName: name },
    )
  })
}
