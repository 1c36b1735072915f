import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBSingleTableEventStorageAdapter } from '@castore/event-storage-adapter-dynamodb'
import type { StandIns } from '../kit/stand-ins.ts'
import type { Peer } from './peers.ts'

const TABLE = 'castore'
const STORE = { eventStoreId: 'RUNS' }

/** Castore's own adapter on the same DynamoDB stand-in, its table as its documentation says. */
export async function castorePeer({ dynamodb }: StandIns): Promise<Peer> {
  const client = new DynamoDBClient({
    endpoint: dynamodb,
    region: 'us-east-1',
    credentials: { accessKeyId: 'standin', secretAccessKey: 'standin' },
  })
  await client.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'aggregateId', AttributeType: 'S' },
        { AttributeName: 'version', AttributeType: 'N' },
        { AttributeName: 'eventStoreId', AttributeType: 'S' },
        { AttributeName: 'timestamp', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'aggregateId', KeyType: 'HASH' },
        { AttributeName: 'version', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'initialEvents',
          KeySchema: [
            { AttributeName: 'eventStoreId', KeyType: 'HASH' },
            { AttributeName: 'timestamp', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  )
  const adapter = new DynamoDBSingleTableEventStorageAdapter({ tableName: TABLE, dynamoDBClient: client })
  const decoder = new TextDecoder()
  let version = 0
  return {
    append: async (frame) => {
      version++
      const payload = { record: decoder.decode(frame.subarray(8)) }
      await adapter.pushEvent(
        { aggregateId: 'peer', version, type: 'FRAME', timestamp: new Date().toISOString(), payload },
        STORE,
      )
    },
    read: async () => {
      const { events } = await adapter.getEvents('peer', STORE)
      return events.reduce((sum, { payload }) => sum + (payload as { record: string }).record.length, 0)
    },
  }
}
