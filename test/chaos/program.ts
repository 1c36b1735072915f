import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A program of ours as a process. */
export interface Program {
  readonly child: ChildProcess
  /** Exit code, or null after a signal. */
  readonly ended: Promise<number | null>
  /** What it has said on standard error, for the report of a failure. */
  complaint(): string
}

type Variables = Readonly<Record<string, string>>

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
export const CLI = fileOf('../../functions/cli/main.ts')
export const STORAGE = fileOf('./storage.ts')
const SHIFT = fileOf('./shift-clock.ts')

/** None of them outlives the chaos run, however that ends. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** @param onLine told each line of standard output */
export const startProgram = (
  file: string,
  args: readonly string[],
  variables: Variables,
  onLine: (line: string) => void = () => {},
): Program => {
  const { PATH = '' } = process.env
  const preload = variables.CLOCK_SHIFT_MS ? ['--import', SHIFT] : []
  const child = spawn(process.execPath, [...preload, file, ...args], {
    env: { PATH, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-4000)
  })
  createInterface({ input: child.stdout }).on('line', onLine)
  return {
    child,
    ended: new Promise((resolve) => child.once('close', resolve)),
    complaint: () => said,
  }
}

/** The first line of standard output, of a program that says it is ready so. */
export const firstLine = async (
  file: string,
  variables: Variables,
): Promise<{ program: Program; line: string }> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const program = startProgram(file, [], variables, resolve)
  void program.ended.then(() => reject(new Error(`${file} ended: ${program.complaint()}`)))
  return { program, line: await promise }
}
