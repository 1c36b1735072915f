import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import type { Item } from './attribute-value.ts'

/** The item with this key, strongly read; undefined where there is none. Throws what the SDK throws. */
export async function getItem(client: DynamoDBClient, table: string, key: Item): Promise<Item | undefined> {
  const request = new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true })
  return (await client.send(request)).Item
}
