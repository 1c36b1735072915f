import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AwsPorts, awsPorts } from '#store/aws'

const SECRET = 'secret-of-the-function'
const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:origin'

let ports: AwsPorts
let url: string
let answer: { status: number; body: string }
let asked: { path: string; headers: IncomingMessage['headers']; body: string; isSigned: boolean }[]

const server = createServer(async (request, response) => {
  const body = await text(request)
  const { url: path = '', headers } = request
  asked.push({ path, headers, body, isSigned: isSigned(request, body) })
  response.writeHead(answer.status).end(answer.body)
})

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const credentials = { accessKeyId: 'key', secretAccessKey: SECRET }
  ports = awsPorts({ bucket: 'b', table: 't', dynamodb: { region: 'eu-west-1', credentials } })
})
afterAll(() => {
  ports.close()
  server.close()
})
afterEach(() => vi.unstubAllEnvs())

function answering(status: number, body = ''): void {
  answer = { status, body }
  asked = []
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', url)
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', url)
}

/** Signature Version 4 in the Authorization header, as the service judges it. */
function isSigned({ method, url: path = '', headers }: IncomingMessage, body: string): boolean {
  const found =
    /Credential=key\/(\d+)\/([\w-]+)\/(\w+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)/.exec(
      headers.authorization ?? '',
    )
  const [, day = '', region = '', service = '', names = '', signature = ''] = found ?? []
  const lines = names.split(';').map((name) => `${name}:${String(headers[name])}\n`)
  const request = [method, path.replaceAll('%', '%25'), '', lines.join(''), names, sha256(body)].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const signed = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(request)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${SECRET}`)
  return hmac(key, signed).toString('hex') === signature
}
const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: string | Buffer, bytes: string) => createHmac('sha256', key).update(bytes).digest()

describe('a signed request to another service', () => {
  it('has a function run, and waits for no result', async () => {
    answering(202)
    await ports.invoke('runfold-maintain', { visit: { tenant: 't', run_id: 'r' } })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      path: '/2015-03-31/functions/runfold-maintain/invocations',
      body: '{"visit":{"tenant":"t","run_id":"r"}}',
      headers: { 'x-amz-invocation-type': 'Event' },
      isSigned: true,
    })
  })

  it('names a function by its ARN as well', async () => {
    answering(202)
    await ports.invoke('arn:aws:lambda:eu-west-1:123456789012:function:f', {})
    expect(asked[0]?.path).toContain('arn%3Aaws%3Alambda')
    expect(asked[0]?.isSigned).toBe(true)
  })

  it('reads the text of a secret', async () => {
    answering(200, JSON.stringify({ ARN, SecretString: 'hush' }))
    expect(await ports.readSecret(ARN)).toBe('hush')
    expect(asked[0]).toMatchObject({
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
      body: JSON.stringify({ SecretId: ARN }),
      isSigned: true,
    })
  })

  it('says that a service was not to be had, and never what it answered', async () => {
    answering(429, 'canary')
    await expect(ports.invoke('f', {})).rejects.toMatchObject({
      code: 'unavailable',
      message: 'calling a function: 429',
    })
    answering(200, JSON.stringify({ SecretBinary: 'canary' }))
    await expect(ports.readSecret(ARN)).rejects.toMatchObject({ code: 'internal' })
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', 'http://127.0.0.1:9') // discard: nobody listens
    await expect(ports.invoke('f', {})).rejects.toMatchObject({ code: 'unavailable' })
  })
})
