import { createClient, Redacted } from '#client'
import { type ServerProcess, startProcess } from '../functions/api/server-process.ts'
import { BUCKET, SECRET_ACCESS_KEY, TABLE } from '../kit/stand-ins.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'
import { type Link, openLink } from './link.ts'
import { Machine } from './machine.ts'
import { firstLine, STORAGE } from './program.ts'

const TOKEN = 'chaos'
const DAY_MS = 86_400_000
/** How wrong the clocks of the machines are. */
const SHIFTS_MS = [0, DAY_MS, -DAY_MS, 0]

/** Machines, a server, and what it keeps its bytes in: all of them processes. */
export const openWorld = async (seed: number) => {
  const folder = temporaryFolder()
  const storage = await firstLine(STORAGE, { CHAOS_SEED: String(seed) })
  const { s3, dynamodb } = JSON.parse(storage.line) as Record<'s3' | 'dynamodb', string>
  const variables = {
    RUNFOLD_ADMIN_TOKEN: TOKEN,
    RUNFOLD_STORE: 'aws',
    RUNFOLD_BUCKET: BUCKET,
    RUNFOLD_TABLE: TABLE,
    RUNFOLD_ENDPOINT_S3: s3,
    RUNFOLD_ENDPOINT_DYNAMODB: dynamodb,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'standin',
    AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
  }
  /** A start may meet a fault of the storage too. */
  const start = async (): Promise<ServerProcess> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await startProcess(folder, variables)
      } catch (error) {
        if (attempt === 5) throw error
      }
    }
  }
  let server = await start()
  const [own, ...links] = (await Promise.all([0, ...SHIFTS_MS].map(() => openLink(() => server.url)))) as [
    Link,
    ...Link[],
  ]
  const machines = links.map(
    (link, n) => new Machine(`machine-${n}`, folder, link, TOKEN, SHIFTS_MS[n] as number),
  )
  return {
    machines,
    client: createClient({ url: own.url, token: new Redacted(TOKEN) }),
    restartServer: async () => {
      server.child.kill('SIGKILL')
      await server.ended
      server = await start()
    },
    close: async () => {
      await Promise.all(machines.map((machine) => machine.signal('SIGKILL')))
      server.child.kill('SIGKILL')
      storage.program.child.kill('SIGKILL')
      for (const link of [own, ...links]) link.close()
      await Promise.all([server.ended, storage.program.ended])
    },
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>
