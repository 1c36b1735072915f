import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Named figures of a bench; the name ends in the unit (`_mb_s`, `_ms`, `_mib`) or says `_vs_` for a ratio. */
export type Figures = Record<string, number>

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return at(sorted, Math.min(sorted.length - 1, Math.floor(q * sorted.length)))
}

/** How long the work takes, ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

function at(values: readonly number[], index: number): number {
  const value = values[index]
  if (value === undefined) throw new Error('no values were measured')
  return value
}

/** What `npm start` gives Node: flags, and where it keeps what it has compiled of the sources. */
export const NODE_FLAGS = ['--optimize-for-size', '--max-semi-space-size=4']
export const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/runfold', import.meta.url))

export interface Measured {
  seconds: number
  /** Resident memory at its highest, over what the process needed before the work, in bytes. */
  peakBytes: number
}

/** Peers work with what is newly made; what else a server gives Node would slow them and not us. */
const TASK_FLAG = '--max-semi-space-size=8'

/** One measurement in a process of its own, so that peaks do not mix. */
export function measureApart(script: URL, ...args: string[]): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [TASK_FLAG, script.pathname, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.on('error', reject)
    child.on('exit', (code) => {
      if (code === 0) resolve(JSON.parse(out) as Measured)
      else reject(new Error(`${script.pathname} ${args.join(' ')} ended with ${code}`))
    })
  })
}
