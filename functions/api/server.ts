import { nodePlatform } from './platform.ts'
import { runServer } from './run-server.ts'

await runServer(nodePlatform, process.env, process.argv.slice(2))
