import { BUNDLES, buildBundle } from './bundles.ts'

// `npm run build:lambda`: what is deployed, into dist-lambda.

for (const name of BUNDLES) {
  const { outputs } = await buildBundle(name)
  const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0)
  console.log(`${name}: ${(bytes / 1000).toFixed(0)} kB in ${Object.keys(outputs).length} files`)
}
