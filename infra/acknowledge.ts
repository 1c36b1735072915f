import { Stack, Validations } from 'aws-cdk-lib'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { IConstruct } from 'constructs'

/** Passes findings of cdk-nag over at one construct, each with the reason that a reviewer is owed. */
export function acknowledge(at: IConstruct, reasons: Readonly<Record<string, string>>): void {
  Validations.of(at).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })))
}

/** How cdk-nag calls a grant of all objects under a prefix of a bucket: objects have no finer names to grant by. */
export function findingOfObjects(bucket: IBucket, prefix: string): string {
  return `AwsSolutions-IAM5[Resource::${spelled(Stack.of(bucket).resolve(bucket.arnForObjects(prefix)))}]`
}

/** X-Ray knows no resource finer than `*`. */
export const FINDING_OF_TRACING = 'AwsSolutions-IAM5[Resource::*]'

function spelled(value: unknown): string {
  if (typeof value === 'string') return value
  const [[name, given] = []] = Object.entries(value as object) as [string, unknown][]
  if (name === 'Fn::Join') return (given as [string, unknown[]])[1].map(spelled).join('')
  return `<${name === 'Ref' ? given : (given as string[]).join('.')}>`
}
