import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

// Preloaded into a function's process: writes the name of every module it loads into the file LOADS.

const file = process.env.LOADS ?? ''
registerHooks({
  load: (url, context, next) => {
    if (url.startsWith('file:')) appendFileSync(file, `${url}\n`)
    return next(url, context)
  },
})
