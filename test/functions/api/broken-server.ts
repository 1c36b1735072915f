import { once } from 'node:events'
import { getRequestListener } from '@hono/node-server'
import { systemClock } from '#store'
import { memoryPorts } from '#store/memory'
import { runServer } from '../../../functions/api/run-server.ts'

/** A server whose disk fails when it is sent SIGUSR2. */
const openStore = async () => ({
  ports: memoryPorts(systemClock),
  place: 'memory',
  broken: once(process, 'SIGUSR2').then(() => new Error('an fsync failed')),
  close: () => {},
})

await runServer({ openStore, listener: getRequestListener }, process.env, [])
