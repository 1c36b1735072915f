import { afterAll, beforeAll } from 'vitest'
import { type Client, type Deployed, type Stage, stage } from './lambda-kit.ts'

/** A stage that is there while the tests of a file run. */
interface Standing {
  deployed(): Deployed
  platform(): Stage['platform']
  readonly ask: Client
  logged(): string
}

/**
 * The bundles that are deployed, in processes that are run as Lambda runs them, on stand-ins of S3 and DynamoDB: started
 * before the tests of the file that calls this, and stopped after them.
 */
export function standing(): Standing {
  let now: Stage
  beforeAll(async () => {
    now = await stage()
  }, 60_000)
  afterAll(() => now.deployed.stop())
  return {
    deployed: () => now.deployed,
    platform: () => now.platform,
    ask: (...asked) => now.ask(...asked),
    logged: () => now.logged(),
  }
}
