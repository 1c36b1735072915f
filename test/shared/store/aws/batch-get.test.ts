import type { BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import type { Item } from '../../../../shared/store/aws/attribute-value.ts'
import { batchGet } from '../../../../shared/store/aws/batch-get.ts'

const key = (n: number): Item => ({ pk: { S: `run#${n}` }, sk: { S: 'head' } })

it('keys that a table leaves unanswered are asked for again', async () => {
  // No stand-in leaves any, so this one answers every second key.
  const asked: number[] = []
  const send = async ({ input }: BatchGetItemCommand) => {
    const keys = input.RequestItems?.table?.Keys ?? []
    asked.push(keys.length)
    const left = keys.filter((_, n) => n % 2 === 1)
    return {
      Responses: { table: keys.filter((_, n) => n % 2 === 0) },
      UnprocessedKeys: left.length > 0 ? { table: { Keys: left } } : {},
    }
  }
  const client = { send } as unknown as DynamoDBClient
  const keys = [key(4), key(2), key(4), key(1)]
  expect(await batchGet(client, 'table', keys)).toEqual(keys)
  expect(asked).toEqual([3, 1])
})
