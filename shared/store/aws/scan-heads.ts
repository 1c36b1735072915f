import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import type { Item } from './attribute-value.ts'
import { PK, SK } from './attributes.ts'

interface HeadScan {
  /** A condition on `#sk` that holds for these heads alone, with `:head` in it. */
  readonly filter: string
  readonly head: string
  /** Items that belong to one head, roughly: a scan counts them all before it filters. */
  readonly rowsPerHead: number
  /** The key of the head to go on behind. */
  readonly after: Item | undefined
  readonly limit: number
}

/**
 * Keys of heads in the table's own order, strongly read. A page is cut where it is full, since any head's key is a place to go
 * on from. Throws what the SDK throws.
 */
export async function scanHeads(
  client: DynamoDBClient,
  table: string,
  { filter, head, rowsPerHead, after, limit }: HeadScan,
): Promise<Item[]> {
  const found: Item[] = []
  let from = after
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        Limit: limit * rowsPerHead,
        ExclusiveStartKey: from,
        FilterExpression: filter,
        ProjectionExpression: '#pk, #sk',
        ExpressionAttributeNames: { '#pk': PK, '#sk': SK },
        ExpressionAttributeValues: { ':head': { S: head } },
      }),
    )
    found.push(...(page.Items ?? []))
    from = page.LastEvaluatedKey
  } while (from && found.length < limit)
  return found.slice(0, limit)
}
