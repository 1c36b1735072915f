import type { Node } from 'constructs'
import * as z from 'zod'

const days = z.coerce.number().int().min(1).max(3653)
const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])])
  .transform((given) => given === true || given === 'true')

/** What a person may say with `-c name=value`; every name, its default and what it is good for stand here and nowhere else. */
const shape = z.strictObject({
  /** Part of the stack's name; several stages may share an account. */
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,15}$/)
    .default('prod'),
  /** Days after its last change until an ended run is deleted; without it runs are kept for ever. */
  retention_days: days.optional(),
  /** A name of your own for the distribution. */
  domain: z.string().optional(),
  /** ARN of the domain's certificate, in us-east-1 (CloudFront). */
  certificate_arn: z.string().startsWith('arn:').optional(),
  /** A bucket that is there already; lifecycle rules and TLS-only are then its owner's business. */
  bucket: z.string().optional(),
  /** ARN of a KMS key for bucket and table. @default keys of the services */
  kms_key_arn: z.string().startsWith('arn:').optional(),
  /** ARN of a WAF web ACL of scope CLOUDFRONT; callers can then no longer go around the distribution. */
  web_acl_arn: z.string().startsWith('arn:').optional(),
  /** Days that logs are kept. */
  log_days: days.default(90),
  /** Days that the audit trail is kept. */
  audit_days: days.default(731),
  /** Executions of the API function that are set aside for it, and its limit. @default the account's shared pool */
  reserved_concurrency: z.coerce.number().int().min(1).optional(),
  /** Whether the table can be restored to any second of the last 35 days. */
  point_in_time_recovery: flag.default(true),
  /** Days after which archives move to infrequent access; reads then cost more. @default never */
  infrequent_after_days: z.coerce.number().int().min(30).optional(),
  /** Where alarms are mailed; AWS asks that address to confirm. */
  alarm_email: z.email().optional(),
})

export type StageConfig = z.output<typeof shape>

/**
 * Reads the settings of a stage from the context.
 *
 * @throws Error naming every setting that cannot be used
 */
export function readConfig(node: Pick<Node, 'tryGetContext'>): StageConfig {
  const given = Object.keys(shape.shape).map((name) => [name, node.tryGetContext(name)] as const)
  const read = shape.safeParse(Object.fromEntries(given.filter(([, value]) => value !== undefined)))
  if (!read.success) throw new Error(`cannot deploy so:\n${z.prettifyError(read.error)}`)
  if ((read.data.domain === undefined) !== (read.data.certificate_arn === undefined))
    throw new Error('cannot deploy so: domain and certificate_arn go together')
  return read.data
}
