import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import { type Bundle, bundleFolder } from '../../functions/bundles.ts'
import { LambdaFunction } from './lambda-function.ts'
import { functionUrl } from './lambda-url.ts'
import { BUCKET, SECRET_ACCESS_KEY, type StandIns, TABLE } from './stand-ins.ts'

export interface PlatformOptions {
  readonly port?: number
  readonly standIns: Pick<StandIns, 's3' | 'dynamodb'>
  /** Of the API function: how many requests are served at once. */
  readonly concurrency?: number
  readonly timeoutMs?: number
  /** Added to the environment of both functions. */
  readonly variables?: Readonly<Record<string, string>>
  readonly log?: (line: string) => void
  /** Where the bundles lie. @default where they are built to be deployed */
  readonly folderOf?: (bundle: Bundle) => string
}

export interface Platform {
  readonly url: string
  readonly api: LambdaFunction
  readonly maintain: LambdaFunction
  /** How often the append path has called for maintenance. */
  invokes(): number
  stop(): Promise<void>
}

const MAINTAIN = 'runfold-maintain'

/** The two functions as infra deploys them, on stand-ins: the API behind its URL, maintenance behind the Invoke API. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { port = 0, standIns, concurrency = 24, timeoutMs = 900_000 } = options
  const { variables = {}, log, folderOf = bundleFolder } = options
  let invokes = 0
  const control = createServer(async (asked, answer) => {
    invokes++
    const event = (await json(asked)) as object
    void maintain.invokeLater(event)
    answer.writeHead(202).end()
  })
  control.listen(0, '127.0.0.1')
  await once(control, 'listening')

  const environment = {
    RUNFOLD_BUCKET: BUCKET,
    RUNFOLD_TABLE: TABLE,
    RUNFOLD_ENDPOINT_S3: standIns.s3,
    RUNFOLD_ENDPOINT_DYNAMODB: standIns.dynamodb,
    RUNFOLD_MAINTAIN_FUNCTION: MAINTAIN,
    AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'standin',
    AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    ...variables,
  }
  const deploy = (name: string, bundle: Bundle, most: number) =>
    new LambdaFunction(
      { name, folder: folderOf(bundle), variables: environment, timeoutMs, ...(log && { log }) },
      most,
    )
  const api = deploy('runfold-api', 'api', concurrency)
  const maintain = deploy(MAINTAIN, 'maintain', 2)
  const front = functionUrl(api)
  front.listen(port, '127.0.0.1')
  await once(front, 'listening')
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    api,
    maintain,
    invokes: () => invokes,
    stop: async () => {
      front.closeAllConnections()
      front.close()
      await Promise.all([api.stop(), maintain.stop()])
      control.closeAllConnections()
      control.close()
    },
  }
}

/** What a schedule sends every so often (docs.aws.amazon.com/eventbridge, "Scheduled events"). */
const SCHEDULED = {
  version: '0',
  source: 'aws.events',
  'detail-type': 'Scheduled Event',
  detail: {},
} as const

/** A round of maintenance, as the schedule calls for one. */
export const runSchedule = async ({ maintain }: Platform) => text(await maintain.invoke(SCHEDULED))
