import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { drainSpool, openSpool, type Spool } from '../../../../functions/daemon/spool/index.ts'
import type { Server } from '../../../shared/client/kit.ts'
import { HERE, RUN } from '../kit.ts'

export const spoolIn = (folder: string, more = {}) => openSpool({ folder, fsync: 'never', ...more })

export const drain = async (server: Server, spool: Spool, more = {}) =>
  drainSpool(spool, {
    client: server.client,
    worker: HERE,
    capabilities: await server.client.capabilities(),
    sleep: async () => undefined,
    ...more,
  })

export const bytesOf = async (records: AsyncIterable<{ readonly bytes: Uint8Array }>) => {
  const pieces: Uint8Array[] = []
  for await (const { bytes } of records) pieces.push(bytes)
  return Buffer.concat(pieces)
}

/** Everything that waits of a run, as one piece of its archive. */
export const waiting = (spool: Spool, run = RUN) => bytesOf(spool.records(run))

/** The only segment of the only run in a folder. */
export const segmentIn = (folder: string) => {
  const [run = ''] = readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? [each.name] : [],
  )
  return join(folder, run, readdirSync(join(folder, run))[0] ?? '')
}
