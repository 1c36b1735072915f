import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

// AWS Signature Version 4 in a query, as S3 judges it and fauxqs does not: what was signed must be what came, and in time.

/** The error code S3 would answer; undefined for a request that is fine, or not presigned at all. */
export function presignedFault(
  { method = '', url = '/', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  secretAccessKey: string,
  now: number,
): 'AccessDenied' | 'SignatureDoesNotMatch' | undefined {
  const cut = url.indexOf('?')
  const query = new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1))
  const signature = query.get('X-Amz-Signature')
  if (signature === null) return undefined
  query.delete('X-Amz-Signature')

  const date = query.get('X-Amz-Date') ?? ''
  const signed = query.get('X-Amz-SignedHeaders') ?? ''
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`)
  const request = [method, url.slice(0, cut), canonical(query), lines.join(''), signed, 'UNSIGNED-PAYLOAD']
  const [day = '', region = '', service = ''] = (query.get('X-Amz-Credential') ?? '').split('/').slice(1)
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(request.join('\n'))].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  if (!isSame(hmac(key, text).toString('hex'), signature)) return 'SignatureDoesNotMatch'
  const ends = timeOf(date) + Number(query.get('X-Amz-Expires')) * 1000
  return now < ends ? undefined : 'AccessDenied'
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const isSame = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

const canonical = (query: URLSearchParams) =>
  [...query]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&')

/** RFC 3986, which is stricter than JavaScript's own. */
const escaped = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** `20261130T120000Z` */
const timeOf = (date: string) =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
