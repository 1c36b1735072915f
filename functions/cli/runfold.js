#!/usr/bin/env node
// Plain old JavaScript on purpose: an old Node must get far enough in this file to say that it is too old. The program
// itself is the bundle that `npm run build` makes.

const found = process.versions.node
const [major, minor] = found.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`runfold needs Node 22.18 or newer, and this is Node ${found}`)
  process.exitCode = 1
} else {
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
