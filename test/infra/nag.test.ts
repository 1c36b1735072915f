import { Validations } from 'aws-cdk-lib'
import { Bucket } from 'aws-cdk-lib/aws-s3'
import { AwsSolutionsChecks } from 'cdk-nag'
import { expect, it } from 'vitest'
import { FULL, makeStack } from './stack.ts'

for (const [name, context] of Object.entries({ default: {}, full: FULL })) {
  it(`cdk-nag finds nothing in the ${name} stage that is not answered with a reason`, () => {
    const { app } = makeStack(context)
    const checks = new AwsSolutionsChecks(app)
    Validations.of(app).addPlugins(checks)
    expect(() => app.synth()).not.toThrow()
  })
}

it('the check is one that can fail', () => {
  const { app, stack } = makeStack()
  new Bucket(stack, 'Careless')
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  expect(() => app.synth()).toThrow()
})
