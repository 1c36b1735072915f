import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateQuery,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { StoredToken, TokenIndex } from '../ports.ts'
import { fromAttribute, type Item, type Plain, toAttribute } from './attribute-value.ts'
import { PK, SK, TOKEN, tokenPk, tokensPk } from './attributes.ts'
import { batchGet } from './batch-get.ts'
import { getItem } from './get-item.ts'
import { asking, isNamed, REFUSED } from './sdk-error.ts'

/**
 * A token is the item under its hash; a second item under its tenant only says where. The second is written first and
 * removed last, so that a token that works can always be found and revoked.
 */
export class DynamoTokenIndex implements TokenIndex {
  readonly #client: DynamoDBClient
  readonly #table: string

  constructor(client: DynamoDBClient, table: string) {
    this.#client = client
    this.#table = table
  }

  async put(token: StoredToken): Promise<void> {
    const members = Object.entries(token).map(([name, value]) => [name, toAttribute(value as Plain)] as const)
    const place = { ...placeKey(token.tenant, token.token_id), hash: { S: token.hash } }
    await asking('keeping a token', async () => {
      await this.#client.send(new PutItemCommand({ TableName: this.#table, Item: place }))
      const item = { ...tokenKey(token.hash), ...Object.fromEntries(members) }
      await this.#client.send(new PutItemCommand({ TableName: this.#table, Item: item }))
    })
  }

  async byHash(hash: string): Promise<StoredToken | undefined> {
    const item = await asking('reading a token', () => getItem(this.#client, this.#table, tokenKey(hash)))
    return item && tokenOf(item)
  }

  async list(tenant: string): Promise<readonly StoredToken[]> {
    const items = await asking('listing tokens', async () => {
      const keys: Item[] = []
      const pages = paginateQuery(
        { client: this.#client },
        {
          TableName: this.#table,
          ConsistentRead: true,
          KeyConditionExpression: '#pk = :tokens',
          ExpressionAttributeNames: { '#pk': PK },
          ExpressionAttributeValues: { ':tokens': { S: tokensPk(tenant) } },
        },
      )
      for await (const { Items = [] } of pages)
        keys.push(...Items.map((place) => tokenKey(place.hash?.S ?? '')))
      return batchGet(this.#client, this.#table, keys)
    })
    const tokens = items.filter((item) => item !== undefined).map(tokenOf)
    return tokens.sort((a, b) => a.created_at - b.created_at)
  }

  async remove(tenant: string, token_id: string): Promise<boolean> {
    const place = placeKey(tenant, token_id)
    return asking('removing a token', async () => {
      const found = await getItem(this.#client, this.#table, place)
      if (!found) return false
      for (const key of [tokenKey(found.hash?.S ?? ''), place])
        await this.#client.send(new DeleteItemCommand({ TableName: this.#table, Key: key }))
      return true
    })
  }

  async touch(hash: string, last_used_at: number): Promise<void> {
    await asking('touching a token', async () => {
      try {
        await this.#client.send(
          new UpdateItemCommand({
            TableName: this.#table,
            Key: tokenKey(hash),
            ConditionExpression: `attribute_exists(${PK})`,
            UpdateExpression: 'SET last_used_at = :now',
            ExpressionAttributeValues: { ':now': toAttribute(last_used_at) },
          }),
        )
      } catch (error) {
        // Revoked meanwhile; an update must not bring it back.
        if (!isNamed(error, REFUSED)) throw error
      }
    })
  }
}

const tokenKey = (hash: string): Item => ({ [PK]: { S: tokenPk(hash) }, [SK]: { S: TOKEN } })
const placeKey = (tenant: string, token_id: string): Item => ({
  [PK]: { S: tokensPk(tenant) },
  [SK]: { S: token_id },
})

const MEMBERS = [
  'token_id',
  'hash',
  'name',
  'tenant',
  'scopes',
  'run_prefix',
  'expires_at',
  'created_at',
  'last_used_at',
] as const satisfies readonly (keyof StoredToken)[]

function tokenOf(item: Item): StoredToken {
  const members = MEMBERS.map((name) => [name, fromAttribute(item[name] ?? { NULL: true })])
  return Object.fromEntries(members) as StoredToken
}
