import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { configOf, type ServiceOptions } from './service.ts'

/** An item update takes some 10 ms. */
const BOUNDS = { maxAttempts: 4, requestTimeout_ms: 3_000 } as const

export const dynamoClient = (options: ServiceOptions = {}): DynamoDBClient =>
  new DynamoDBClient(configOf(options, BOUNDS))
