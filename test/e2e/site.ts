import { createClient, Redacted } from '#client'
import { createLog } from '../../functions/api/log.ts'
import { nodePlatform } from '../../functions/api/platform.ts'
import { startServer } from '../../functions/api/start-server.ts'
import { readServerEnv } from '../../functions/env.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'

export type Site = Awaited<ReturnType<typeof startSite>>

/** The local server with its viewer, in this process, on a folder of its own. */
export async function startSite(folder = temporaryFolder()) {
  const log = createLog(false, (line) => console.error(line))
  const server = await startServer(nodePlatform, readServerEnv({ PORT: '0', RUNFOLD_DATA: folder }), log)
  const client = createClient({ url: server.url, token: new Redacted(server.token.text) })

  /** Appends pieces of an archive to a new run, and gives what it takes to append more. */
  const store = async (run: string, pieces: Iterable<Uint8Array>) => {
    const { epoch } = await client.acquire(run, { machine_id: 'laptop', world_id: 'w1', ttl_s: 3600 })
    let offset = 0
    let batch: Uint8Array[] = []
    let size = 0
    const append = async (...more: Uint8Array[]) => {
      const bytes = new Uint8Array(Buffer.concat(more))
      offset = (await client.append(run, { offset, epoch, bytes })).tail
    }
    const flush = async () => {
      if (batch.length > 0) await append(...batch)
      batch = []
      size = 0
    }
    for (const piece of pieces) {
      batch.push(piece)
      size += piece.length
      if (size > 4 << 20) await flush()
    }
    await flush()
    return { epoch, append }
  }
  return {
    url: server.url,
    token: server.token.text,
    code: server.login.code,
    client,
    store,
    stop: server.stop,
  }
}
