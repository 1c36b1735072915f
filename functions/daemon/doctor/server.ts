import { type Client, createClient, isLoopback, type Redacted } from '#client'
import { isRunfoldError, type RunfoldError } from '#schema'
import { bad, type Finding, ok, warning } from './finding.ts'

export interface ServerSettings {
  readonly url: string
  readonly token: Redacted | undefined
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
}

/** Leases are a matter of the server's clock alone; but times in journals and reports are those of this machine. */
const SKEW_MS = 30_000

/** Is there a server, is it one of ours, does it tell the same time? Undefined for the client when there is none to go on with. */
export const checkServer = async (
  settings: ServerSettings,
): Promise<{ findings: readonly Finding[]; client: Client | undefined }> => {
  const { url, token, signal } = settings
  const findings: Finding[] = [encryption(url)]
  let skewMs: number | undefined
  const client = createClient({
    url,
    ...(token && { token }),
    signal,
    retry: { retries: 0 },
    fetch: async (...request) => {
      const asked = Date.now()
      const answer = await settings.fetch(...request)
      const told = Date.parse(answer.headers.get('date') ?? '')
      // The header has whole seconds, and was written between question and answer.
      const own = (asked + Date.now()) / 2
      if (!Number.isNaN(told)) skewMs ??= own - (told + 500)
      return answer
    },
  })
  try {
    await client.health()
    findings.push(...(await able(client, url)), clock(skewMs))
    return { findings, client }
  } catch (error) {
    if (!isRunfoldError(error)) throw error
    findings.push(unreached(url, error))
    return { findings, client: undefined }
  }
}

/** What the server is; it tells only whom it knows, and what else there is to say of the token is said elsewhere. */
const able = async (client: Client, url: string): Promise<readonly Finding[]> => {
  try {
    const { version, format_versions, features } = await client.capabilities()
    const found = ok('server', `runfold ${version} at ${url}, with ${features.join(', ') || 'no features'}`)
    if (format_versions.includes(1)) return [found]
    return [found, bad('format', 'the server does not take LVR1 of version 1', 'upgrade the server')]
  } catch (error) {
    if (isRunfoldError(error, 'unauthorized')) return [ok('server', `answers at ${url}`)]
    throw error
  }
}

const encryption = (url: string): Finding =>
  isLoopback(url) || url.startsWith('https:')
    ? ok('connection', isLoopback(url) ? 'stays on this machine' : 'is encrypted')
    : warning('connection', 'is not encrypted: others on the way can read the token', 'use an https URL')

const clock = (skewMs: number | undefined): Finding => {
  if (skewMs === undefined) return ok('clock', 'the server does not tell its time')
  const off = Math.abs(skewMs)
  if (off < SKEW_MS) return ok('clock', 'agrees with the server’s')
  const found = `is ${Math.round(off / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the server’s`
  return warning(
    'clock',
    found,
    'let the system keep it (NTP); leases do not depend on it, times in journals do',
  )
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; start the server, or mend the port in RUNFOLD_URL',
  ENOTFOUND: 'the name is not known; mend the host in RUNFOLD_URL, or look at the network',
  EAI_AGAIN: 'names cannot be looked up now; look at the network',
  ETIMEDOUT: 'no answer came; look at firewalls and proxies between here and there',
  UND_ERR_CONNECT_TIMEOUT: 'no answer came; look at firewalls and proxies between here and there',
  CERT_HAS_EXPIRED: 'the server’s certificate has expired; renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'name your certificate authority in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'name your certificate authority in NODE_EXTRA_CA_CERTS',
}

const unreached = (url: string, { message, facts }: RunfoldError): Finding => {
  if (facts.foreign)
    return bad('server', message, 'something else answers there, perhaps a proxy; mend RUNFOLD_URL')
  const reason = String(facts.reason ?? '')
  const found = `no answer from ${url}${reason && ` (${reason})`}`
  return bad('server', found, REASONS[reason] ?? 'start the server, or mend RUNFOLD_URL')
}
