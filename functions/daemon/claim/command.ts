import { spawn } from 'node:child_process'

/** A command of the user at work on a run. */
export interface RunningCommand {
  /** Its exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>
  /** Asks it to end, and ends it when it does not. */
  stop(): void
}

/** How long a command may take to end when it is asked to. */
const STOP_WITHIN_MS = 10_000

/** Runs a command line in a shell, in a folder. Its output goes where ours goes, or all of it to standard error. */
export const startCommand = (
  line: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  toStandardError: boolean,
): RunningCommand => {
  // In a group of its own, so that what the shell has started ends with it.
  const child = spawn(line, {
    cwd: folder,
    env: { ...env },
    shell: true,
    detached: true,
    stdio: ['ignore', toStandardError ? 2 : 'inherit', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch {
      // It has ended by itself.
    }
  }
  return {
    ended,
    stop: () => {
      signal('SIGTERM')
      const late = setTimeout(() => signal('SIGKILL'), STOP_WITHIN_MS)
      const over = () => clearTimeout(late)
      ended.then(over, over)
    },
  }
}
