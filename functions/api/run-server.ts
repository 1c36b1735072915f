import { readServerEnv, type ServerEnv, SettingError } from '../env.ts'
import { isLoopbackName } from './host-check.ts'
import { createLog } from './log.ts'
import { startMessage } from './start-message.ts'
import { type Platform, startServer } from './start-server.ts'
import { whyNot } from './why-not.ts'

type Variables = Readonly<Record<string, string | undefined>>

/**
 * The whole life of a server process: settings, start, and an end that loses nothing that was acknowledged. The exit code is
 * 2 where a setting is wrong, 1 after any other failure.
 *
 * @param cli how the person who starts it calls the CLI
 */
export async function runServer(
  platform: Platform,
  variables: Variables,
  args: readonly string[],
  cli = 'npm run -s cli --',
): Promise<void> {
  try {
    const env = readServerEnv(variables)
    checkArguments(args, env)
    const log = createLog(env.logRequests, (line) => process.stderr.write(`${line}\n`))
    const running = await startServer(platform, env, log)
    process.stdout.write(`${startMessage({ ...running, cli })}\n`)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void running.stop().then(() => process.exit(0)))
    }
    void running.broken.then((cause) => {
      log.warn('the storage may have lost what it was given, so the server ends', cause)
      process.exit(1)
    })
  } catch (error) {
    process.stderr.write(`runfold: ${whyNot(error)}\n`)
    process.exitCode = error instanceof SettingError ? 2 : 1
  }
}

/** Whoever opens the server to other machines says so twice: by the address, and by the flag. */
function checkArguments(args: readonly string[], { host }: ServerEnv): void {
  const unknown = args.find((arg) => arg !== '--allow-remote')
  if (unknown !== undefined)
    throw new SettingError(`${unknown} is not known; the one option is --allow-remote`)
  if (isLoopbackName(host) || args.includes('--allow-remote')) return
  throw new SettingError(
    `RUNFOLD_HOST is ${host}, which other machines can reach; start with --allow-remote if they shall`,
  )
}
