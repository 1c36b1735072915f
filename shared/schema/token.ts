import * as z from 'zod'
import { givenTime, runPrefix, serverTime, tenantId } from './name.ts'

export const SCOPES = ['append', 'read', 'resume', 'admin', 'operator'] as const
export const scope = z.enum(SCOPES)

export const tokenRequest = z.strictObject({
  name: z.string().min(1).max(200),
  scopes: z.array(scope).min(1).max(SCOPES.length),
  tenant: tenantId.optional(),
  run_prefix: runPrefix.optional(),
  expires_at: givenTime.optional(),
})

export const tokenRow = z.object({
  token_id: z.string(),
  name: z.string(),
  tenant: tenantId,
  scopes: z.array(scope),
  run_prefix: z.string().nullable(),
  expires_at: serverTime.nullable(),
  created_at: serverTime,
  last_used_at: serverTime.nullable(),
})

/** The only answer that ever shows a token. */
export const tokenMade = tokenRow.extend({ token: z.string() })
export const tokenList = z.object({ items: z.array(tokenRow) })

export type Scope = z.infer<typeof scope>
export type TokenRequest = z.infer<typeof tokenRequest>
export type TokenRow = z.infer<typeof tokenRow>
export type TokenMade = z.infer<typeof tokenMade>
