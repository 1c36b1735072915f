import { digestOf, loadDigest } from '../codec/index.ts'
import type { Scope, TokenMade, TokenRequest, TokenRow } from '../schema/index.ts'
import { RunfoldError, SCOPES } from '../schema/index.ts'
import { CheckedTokens } from './checked-tokens.ts'
import { serverTime } from './head.ts'
import type { Clock, StoredToken, TokenIndex } from './ports.ts'

/** Who asks, as the token says. */
export interface Principal {
  readonly token_id: string
  readonly tenant: string
  readonly scopes: readonly Scope[]
  readonly run_prefix: string | null
  /** ms */
  readonly expires_at: number | null
}

/** The tokens of all tenants; who may do what with them is judged here. */
export interface Tokens {
  /** Nobody makes a token wider than their own: `forbidden`. What the request leaves open is bounded as the maker is. */
  make(maker: Principal, request: TokenRequest): Promise<TokenMade>
  /** The first token: tenant `default`, all scopes. The same text again changes nothing. */
  install(text: string): Promise<void>
  /** Undefined when there is no such token, or not any more. A revocation is seen within 30 s. */
  check(text: string): Promise<Principal | undefined>
  /** Of the asker's tenant; who is bound to a prefix sees no token of a wider one. */
  list(asker: Principal): Promise<TokenRow[]>
  /** False when the asker can see no such token. */
  revoke(asker: Principal, token_id: string): Promise<boolean>
}

/** `rf_` and 32 random bytes in base64url. */
export function makeTokenText(): string {
  const random = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))
  return `rf_${btoa(random).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

/** Tokens on an index, with a memory of those that were checked a moment ago. */
export function createTokens(index: TokenIndex, clock: Clock): Tokens {
  const checked = new CheckedTokens(index, clock)

  const store = async (
    text: string,
    row: Omit<StoredToken, 'hash' | 'token_id' | 'created_at' | 'last_used_at'>,
  ) => {
    const hash = await hashOf(text)
    const token: StoredToken = {
      ...row,
      token_id: `tok_${crypto.randomUUID()}`,
      hash,
      created_at: clock.now(),
      last_used_at: null,
    }
    await index.put(token)
    return token
  }

  const seen = async ({ tenant, run_prefix }: Principal) =>
    (await index.list(tenant)).filter((token) => isWithin(token.run_prefix, run_prefix))

  return {
    make: async (maker, request) => {
      const text = makeTokenText()
      return { ...tokenRow(await store(text, narrowed(maker, request, clock.now()))), token: text }
    },
    install: async (text) => {
      if (await index.byHash(await hashOf(text))) return
      const all = { tenant: 'default', scopes: SCOPES, run_prefix: null, expires_at: null }
      await store(text, { name: 'first token', ...all })
    },
    check: async (text) => {
      const token = await checked.find(await hashOf(text))
      if (!token || (token.expires_at !== null && token.expires_at <= clock.now())) return undefined
      const { token_id, tenant, scopes, run_prefix, expires_at } = token
      return { token_id, tenant, scopes, run_prefix, expires_at }
    },
    list: async (asker) => (await seen(asker)).map(tokenRow),
    revoke: async (asker, token_id) => {
      if (!(await seen(asker)).some((token) => token.token_id === token_id)) return false
      checked.forget(token_id)
      return index.remove(asker.tenant, token_id)
    },
  }
}

function narrowed(maker: Principal, request: TokenRequest, now: number) {
  const wider = (what: string) =>
    new RunfoldError('forbidden', `the new token would have a wider ${what} than its maker`)
  const { name, scopes, tenant = maker.tenant } = request
  if (tenant !== maker.tenant && !maker.scopes.includes('operator')) {
    throw new RunfoldError('forbidden', 'a token of another tenant needs scope operator', {
      scope: 'operator',
    })
  }
  const missing = scopes.find((scope) => !maker.scopes.includes(scope))
  if (missing)
    throw new RunfoldError('forbidden', 'the maker lacks a scope of the new token', { scope: missing })

  const run_prefix = request.run_prefix ?? maker.run_prefix
  if (!isWithin(run_prefix, maker.run_prefix)) throw wider('run_prefix')

  const expires_at = request.expires_at === undefined ? maker.expires_at : Date.parse(request.expires_at)
  if (maker.expires_at !== null && (expires_at ?? Number.POSITIVE_INFINITY) > maker.expires_at)
    throw wider('expires_at')
  if (expires_at !== null && expires_at <= now) {
    const issues = [{ path: 'expires_at', message: 'is in the past' }]
    throw new RunfoldError('bad_request', 'expires_at is in the past', { issues })
  }
  return { name, tenant, scopes: [...new Set(scopes)], run_prefix, expires_at }
}

function isWithin(prefix: string | null, bound: string | null): boolean {
  return (prefix ?? '').startsWith(bound ?? '')
}

async function hashOf(text: string): Promise<string> {
  await loadDigest()
  return digestOf(new TextEncoder().encode(text))
}

function tokenRow(token: StoredToken): TokenRow {
  const { token_id, name, tenant, scopes, run_prefix, created_at } = token
  const time = (ms: number | null) => (ms === null ? null : serverTime(ms))
  return {
    token_id,
    name,
    tenant,
    scopes: [...scopes],
    run_prefix,
    created_at: serverTime(created_at),
    expires_at: time(token.expires_at),
    last_used_at: time(token.last_used_at),
  }
}
