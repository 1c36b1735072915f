import { getRequestListener } from '@hono/node-server'
import { openLocalStore } from '#store/local'
import { runServer } from './run-server.ts'

await runServer(
  { openStore: openLocalStore, listener: getRequestListener },
  process.env,
  process.argv.slice(2),
)
