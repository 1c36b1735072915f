import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { ArchiveStack } from '../../infra/archive-stack.ts'
import { readConfig } from '../../infra/config.ts'

/** Everything that can be set, set. */
export const FULL = {
  stage: 'full',
  retention_days: 30,
  domain: 'runs.example.com',
  certificate_arn: 'arn:aws:acm:us-east-1:123456789012:certificate/abc',
  bucket: 'a-bucket-of-theirs',
  kms_key_arn: 'arn:aws:kms:eu-west-1:123456789012:key/abc',
  web_acl_arn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/x/y',
  log_days: 30,
  audit_days: 365,
  reserved_concurrency: 50,
  point_in_time_recovery: false,
  alarm_email: 'ops@example.com',
}

/** A stack as `infra/main.ts` makes it; the code of the functions is none, since templates do not hold it. */
export function makeStack(context: Record<string, unknown> = {}): { app: App; stack: ArchiveStack } {
  const app = new App({ context })
  const code = () => Code.fromInline('// the bundle')
  const config = readConfig(app.node)
  const stack = new ArchiveStack(app, `runfold-${config.stage}`, {
    config,
    code: { api: code(), maintain: code() },
  })
  return { app, stack }
}

export const templateOf = (context: Record<string, unknown> = {}): Template =>
  Template.fromStack(makeStack(context).stack)

type Properties = Record<string, unknown>
export const resourcesOf = (template: Template, type: string): [string, Properties][] =>
  Object.entries(template.findResources(type)).map(([id, found]) => [id, found.Properties as Properties])
