import { it, vi } from 'vitest'
import { findDynamoDbLocal, startDynamoDbLocal } from '../../../kit/dynamodb-local.ts'
import { portsOf, startStandIns } from '../../../kit/stand-ins.ts'
import { storeContract } from '../../../kit/store-contract.ts'

const found = findDynamoDbLocal()

// A virtual machine starts slowly, above all on a busy one.
vi.setConfig({ hookTimeout: 60_000, testTimeout: 30_000 })

if ('missing' in found) {
  it.skip(`the store contract on DynamoDB Local (skipped: ${found.missing})`, () => {})
} else {
  storeContract('S3 and DynamoDB Local', async () => {
    const [standIns, dynamo] = await Promise.all([startStandIns(), startDynamoDbLocal(found.jar)])
    const ports = portsOf({ s3: standIns.s3, dynamodb: dynamo.endpoint })
    await ports.ensureTable()
    return {
      ports,
      close: async () => {
        ports.close()
        await Promise.all([standIns.stop(), dynamo.stop()])
      },
    }
  })
}
