import { App, Tags, Validations } from 'aws-cdk-lib'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { AwsSolutionsChecks } from 'cdk-nag'
import { ArchiveStack } from './archive-stack.ts'
import { readConfig } from './config.ts'

const bundle = (name: string) => Code.fromAsset(new URL(`../dist-lambda/${name}`, import.meta.url).pathname)

const app = new App()
const config = readConfig(app.node)
const stack = new ArchiveStack(app, `runfold-${config.stage}`, {
  description: 'runfold: an archive of agent runs',
  config,
  code: { api: bundle('api'), maintain: bundle('maintain') },
  terminationProtection: true,
})
Tags.of(stack).add('runfold:stage', config.stage)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
