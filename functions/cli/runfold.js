#!/usr/bin/env node
// Plain old JavaScript on purpose: an old Node must get far enough in this file to say that it is too old. The program
// itself is the bundle that `npm run build` makes.

import { setFlagsFromString } from 'node:v8'

const found = process.versions.node
const [major, minor] = found.split('.').map(Number)
const DAEMONS = new Set(['serve', 'watch', 'sync', 'claim'])

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`runfold needs Node 22.18 or newer, and this is Node ${found}`)
  process.exitCode = 1
} else {
  // What runs for weeks beside other programs, mostly idle, must not keep what it needed once: left to itself, V8 takes 128 MB
  // for what is newly made and never gives them back (`npm run bench -- watch`: a third of the resident memory).
  if (DAEMONS.has(process.argv[2]))
    for (const flag of ['--optimize-for-size', '--semi-space-growth-factor=1']) setFlagsFromString(flag)
  const bundle = new URL('../../dist/runfold.js', import.meta.url)
  import(bundle.href).then(
    (program) => program.run(),
    (error) => {
      const isMissing = error.code === 'ERR_MODULE_NOT_FOUND' && error.url === bundle.href
      console.error(isMissing ? 'runfold is not built yet: run `npm run build` first' : error)
      process.exitCode = 1
    },
  )
}
