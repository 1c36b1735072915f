import * as z from 'zod'

/** API.md: the one rule of run ids, repeated in the `detail` of a refusal. */
export const RUN_ID_RULE = '1 to 128 characters of A-Z a-z 0-9 . _ -, the first a letter or a digit'

export const runId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, `a run_id is ${RUN_ID_RULE}`)
/** A tenant follows the rule of run ids. */
export const tenantId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, `a tenant is ${RUN_ID_RULE}`)
/** What a run_id may begin with. */
export const runPrefix = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, `a run_prefix is the beginning of a run_id: ${RUN_ID_RULE}`)

export const workerId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'machine_id and world_id are 1 to 128 characters of A-Z a-z 0-9 . _ : -')

export const requirements = z.array(z.string().min(1).max(128)).max(64)

/** The run's name in the store; one run_id of two tenants is two runs. */
export interface RunKey {
  readonly tenant: string
  readonly run_id: string
}

/** RFC 3339 UTC with milliseconds, as every server time is written. */
export const serverTime = z.iso.datetime({ precision: 3 })

const RFC_3339 = 'an RFC 3339 time with its zone, such as 2026-11-30T17:00:00Z'
/** A time that a caller gives: RFC 3339, with its zone; its `T` and `Z` may be small there (5.6), and are large from here on. */
export const givenTime = z
  .string(RFC_3339)
  .toUpperCase()
  .check(z.iso.datetime({ offset: true, error: RFC_3339, abort: true }))
/** Lower-case hex SHA-256. */
export const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** Sizes, offsets, seqs and epochs in answers: 0 … 2^53−1. */
export const size = z.int().min(0)
/** The same in a query: plain decimal, nothing else. */
export const queryInt = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,15})$/, 'a plain decimal integer from 0 to 9007199254740991')
  .transform(Number)
  .refine(Number.isSafeInteger, 'a plain decimal integer from 0 to 9007199254740991')
export const queryFlag = z.enum(['true', 'false']).transform((word) => word === 'true')
