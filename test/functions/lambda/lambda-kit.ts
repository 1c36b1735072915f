import { request } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFrame } from '#codec'
import { createTokens, systemClock } from '#store'
import { BUNDLES, type Bundle, buildBundle } from '../../../functions/bundles.ts'
import { type ChooseFault, type FaultProxy, startFaultProxy } from '../../kit/fault-proxy.ts'
import { type Platform, type PlatformOptions, startPlatform } from '../../kit/lambda-platform.ts'
import { portsOf, type StandIns, startStandIns } from '../../kit/stand-ins.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

export const TOKEN = 'rf_canary-of-the-admin-token'

/** The real bundles, the storage they stand on, and what they have asked of it. */
export interface Deployed {
  readonly folderOf: (bundle: Bundle) => string
  readonly s3: FaultProxy
  readonly dynamodb: FaultProxy
  /** Has S3 fail as it is told. */
  disturb(choose: ChooseFault): void
  platform(options?: Partial<PlatformOptions>): Promise<Platform>
  stop(): Promise<void>
}

async function deploy(): Promise<Deployed> {
  const folder = temporaryFolder()
  const folderOf = (bundle: Bundle) => join(folder, bundle)
  await Promise.all(BUNDLES.map((bundle) => buildBundle(bundle, folderOf(bundle))))
  const standIns: StandIns = await startStandIns()
  let choose: ChooseFault = () => undefined
  const [s3, dynamodb] = await Promise.all([
    startFaultProxy(standIns.s3, (seen) => choose(seen)),
    startFaultProxy(standIns.dynamodb, () => undefined),
  ])
  const at = { s3: s3.endpoint, dynamodb: dynamodb.endpoint }
  const ports = portsOf(at)
  await createTokens(ports.tokens, systemClock).install(TOKEN)
  ports.close()
  const platforms: Platform[] = []
  return {
    folderOf,
    s3,
    dynamodb,
    disturb: (next) => {
      choose = next
    },
    platform: async (options = {}) => {
      const platform = await startPlatform({ standIns: at, folderOf, concurrency: 2, ...options })
      platforms.push(platform)
      return platform
    },
    stop: async () => {
      await Promise.all(platforms.map((platform) => platform.stop()))
      await Promise.all([s3.stop(), dynamodb.stop()])
      await standIns.stop()
    },
  }
}

/** What the tests of the bundles ask: one platform, its client, and all that its functions have logged. */
export interface Stage {
  readonly deployed: Deployed
  readonly platform: Platform
  readonly ask: Client
  logged(): string
}

export async function stage(): Promise<Stage> {
  const deployed = await deploy()
  let logged = ''
  const platform = await deployed.platform({
    log: (line) => {
      logged += line
    },
  })
  return { deployed, platform, ask: clientOf(platform.url), logged: () => logged }
}

/** Looks until it is so; what it waits for is done by other processes. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50)
}

export const message = (content: string): Uint8Array =>
  encodeFrame(
    new TextEncoder().encode(JSON.stringify({ Message: { message: { role: 'user', content }, at: 1 } })),
  )

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  readonly json: any
}

interface Asked {
  readonly body?: Uint8Array | string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string | null
}

/** A client that sends paths as they are. */
export const clientOf =
  (url: string) =>
  (method: string, path: string, { body, headers = {}, token = TOKEN }: Asked = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
      const { hostname, port } = new URL(url)
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = request({
        hostname,
        port,
        method,
        path,
        agent: false,
        headers: { ...authorization, ...length, ...headers },
      })
      sent.once('error', reject).once('response', (answer) => {
        buffer(answer).then((bytes) => {
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: bytes,
            get json() {
              return JSON.parse(bytes.toString())
            },
          })
        }, reject)
      })
      sent.end(body)
    })

export type Client = ReturnType<typeof clientOf>

const JSON_TYPE = { 'content-type': 'application/json' }
export const FRAMES = { 'content-type': 'application/vnd.runfold.lvr1' }

/** A held run; `append` sends a batch at the tail and moves it. */
export async function begin(ask: Client, run: string) {
  const body = JSON.stringify({ machine_id: 'm', world_id: 'w' })
  const { epoch } = (await ask('POST', `/v1/runs/${run}/lease`, { body, headers: JSON_TYPE })).json
  let tail = 0
  const append = async (bytes: Uint8Array) => {
    const path = `/v1/runs/${run}/frames?offset=${tail}&epoch=${epoch}`
    const answer = await ask('POST', path, { body: bytes, headers: FRAMES })
    if (answer.status === 200) tail += bytes.length
    return answer
  }
  return { epoch: Number(epoch), append, tail: () => tail, path: `/v1/runs/${run}` }
}
