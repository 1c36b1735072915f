import { joined } from '#codec'
import { BODY_ENCODINGS, type Facts, RunfoldError } from '#schema'
import { release } from '#store'
import { Inflation, inflate } from './inflate.ts'
import { badRequest } from './issues.ts'

export interface BodyRule {
  /** Media types that are taken, without parameters. */
  readonly types: readonly string[]
  /** Of the decoded body. */
  readonly maxBytes: number
  /** Facts of the `too_large` that is answered over the limit. */
  readonly facts: Facts
  /** Called with the number of bytes before each piece is kept. */
  readonly take: (bytes: number) => void
}

/**
 * How long a body may bring nothing once some of it holds memory, ms. A slow line brings a packet now and then, so it is
 * not bounded by this but by the time of the whole request.
 */
const STANDSTILL_MS = 30_000

/**
 * The whole decoded body of a request, checked before and while it comes: type, coding, then size.
 *
 * @throws unsupported_media_type, too_large, bad_request (a broken coding, or a body that ends early),
 * slow_down (one that stands still)
 */
export async function readBody(request: Request, rule: BodyRule): Promise<Uint8Array> {
  checkType(request.headers.get('content-type'), rule.types)
  const encoding = encodingOf(request.headers.get('content-encoding'))
  const tooLarge = () => new RunfoldError('too_large', `the body is over ${rule.maxBytes} bytes`, rule.facts)
  const most = encoding === undefined ? rule.maxBytes : mostCoded(rule.maxBytes)
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge()
  const bytes = await collect(request, most, rule.take, tooLarge)
  if (encoding === undefined) return bytes
  try {
    const decoded = await inflate(encoding, bytes, rule.maxBytes)
    rule.take(decoded.length)
    return decoded
  } catch (error) {
    throw error instanceof Inflation ? tooLarge() : error
  }
}

/** What cannot be compressed grows by its coding, which adds some bytes to each block and a head. */
const mostCoded = (decoded: number) => decoded + Math.ceil(decoded / 64) + 1024

/** For bytes that are what they are. */
export const ANY_TYPE = '*/*'

function checkType(header: string | null, types: readonly string[]): void {
  const type = (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (types.includes(type) || types.includes(ANY_TYPE)) return
  throw new RunfoldError('unsupported_media_type', `the body must be ${types.join(' or ')}`, {
    accepted: types,
  })
}

function encodingOf(header: string | null): 'gzip' | 'zstd' | undefined {
  const coding = header?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return undefined
  const known = BODY_ENCODINGS.find((encoding) => encoding === coding)
  if (known) return known
  throw new RunfoldError(
    'unsupported_media_type',
    `the Content-Encoding must be ${BODY_ENCODINGS.join(' or ')}`,
    {
      accepted: BODY_ENCODINGS,
    },
  )
}

async function collect(
  request: Request,
  most: number,
  take: BodyRule['take'],
  tooLarge: () => RunfoldError,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of pieces(request)) {
    length += chunk.length
    if (length > most) throw tooLarge()
    take(chunk.length)
    chunks.push(chunk)
  }
  const bytes = joined(chunks)
  // Large bodies come many at a time, and what they came in would wait for the collector beside them.
  for (const chunk of chunks) if (chunk !== bytes) release(chunk)
  return bytes
}

/** A connection that breaks ends the body with an error, never early and in silence: half a batch must not look whole. */
async function* pieces(request: Request): AsyncGenerator<Uint8Array> {
  if (!request.body) return
  const reader = request.body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await soon(reader.read())) yield next.value
  } catch (cause) {
    if (cause instanceof RunfoldError) throw cause
    throw badRequest([{ path: '', message: 'the body ended before its end' }])
  } finally {
    // Not waited for: what is not read any more may take as long as it likes to hear of it.
    reader.cancel().catch(() => {})
  }
}

/** What is awaited, or `slow_down` where it has not come in time: another attempt may have a better line. */
async function soon<T>(awaited: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const standstill = `nothing of the body came for ${STANDSTILL_MS / 1000} s`
    timer = setTimeout(() => reject(new RunfoldError('slow_down', standstill)), STANDSTILL_MS)
  })
  try {
    return await Promise.race([awaited, late])
  } finally {
    clearTimeout(timer)
  }
}
