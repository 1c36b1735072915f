import type { StorePorts } from '#store'
import { plainHeader } from '../../../kit/plain-header.ts'
import { frameOf, StoredRun, say, sha256, testArchive } from '../../../kit/stored-run.ts'

export const MiB = 1024 * 1024
export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** A run that has a batch already. */
export const started = async () => {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  await run.append(say('first'))
  return { ...kit, run }
}

/** Comparing megabytes element by element takes seconds. */
export const digestOf = async (run: StoredRun) => sha256(await run.stored())

/** A frame of a little more than so many bytes. */
export const big = (bytes: number) => say('x'.repeat(bytes))

export const header = frameOf(JSON.stringify(plainHeader()))
export const status = (word: string) => frameOf(`{"StatusChanged":{"status":"${word}","at":2}}`)
export const point = frameOf(
  '{"ContextDiff":{"delta":{"stage_name":"s","total_tokens":1,"max_tokens":2,"regions":[]},"at":1}}',
)

export const everyKey = async ({ objects }: StorePorts, prefix: string) => {
  const keys: string[] = []
  for await (const { key } of objects.list(prefix)) keys.push(key)
  return keys
}
