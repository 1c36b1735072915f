import * as z from 'zod'
import { givenTime, runPrefix, serverTime, tenantId } from './name.ts'

export const SCOPES = ['append', 'read', 'resume', 'admin', 'operator'] as const
export const scope = z.enum(SCOPES)

/** With a zone, a time of four digits' year may be of another in UTC, and answers could not show it. */
const LAST_TIME = '9999-12-31T23:59:59.999Z'

export const tokenRequest = z.strictObject({
  name: z.string().min(1).max(200),
  scopes: z.array(scope).min(1).max(SCOPES.length),
  tenant: tenantId.optional(),
  run_prefix: runPrefix.optional(),
  expires_at: givenTime
    .refine((time) => Date.parse(time) <= Date.parse(LAST_TIME), `at the latest ${LAST_TIME}`)
    .optional(),
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
