import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { BY_CREATION, BY_DUE, PK, SK } from './attributes.ts'
import { asking, isNamed } from './sdk-error.ts'

const CREATION_S = 60

/**
 * The table as CreateTable wants it; infra reads the same constants. An append changes no attribute of `by_creation`,
 * which lies on cards, nor of `by_due` while `due_at` stays, so it pays for one item only.
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
