import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Link } from './link.ts'
import { CLI, type Program, startProgram } from './program.ts'

/** The shortest that a server grants, seconds. */
const TTL_S = 5

/** What the chaos run wants to know of a line of `watch` or `resume`. */
interface Said {
  readonly run_id?: string
  readonly tail?: number
  readonly trouble?: { readonly code: string }
}

/** A machine with a folder of runs, a watcher of it, a network of its own and a clock that may be wrong. */
export class Machine {
  readonly id: string
  readonly link: Link
  readonly #home: string
  readonly #variables: Readonly<Record<string, string>>
  #watcher: Program | undefined
  /** How far each run was said to be on the server, by its watcher and by resumes that ended well. */
  readonly acked = new Map<string, number>()
  /** How often its watchers were told that a run is not theirs any more. */
  refused = 0

  constructor(id: string, folder: string, link: Link, token: string, shiftMs: number) {
    this.id = id
    this.link = link
    this.#home = join(folder, id)
    mkdirSync(this.runs, { recursive: true })
    writeFileSync(join(this.#home, 'machine-id'), id)
    this.#variables = {
      HOME: this.#home,
      RUNFOLD_URL: link.url,
      RUNFOLD_TOKEN: token,
      ...(shiftMs !== 0 && { CLOCK_SHIFT_MS: String(shiftMs) }),
    }
  }

  get runs(): string {
    return join(this.#home, 'runs')
  }

  archiveOf(run: string): string {
    return join(this.runs, run, 'run.lvr')
  }

  makeFolder(run: string): void {
    mkdirSync(join(this.runs, run))
  }

  /** Every file of this machine that holds, or held, the run's archive. */
  filesOf(run: string): readonly Buffer[] {
    const folder = join(this.runs, run)
    const names = ((): string[] => {
      try {
        return readdirSync(folder)
      } catch {
        return []
      }
    })()
    return names.filter((name) => name.startsWith('run.lvr')).map((name) => readFileSync(join(folder, name)))
  }

  /** One watcher at a time; whoever started it, it is this machine's. */
  watch(): void {
    const { exitCode, signalCode } = this.#watcher?.child ?? { exitCode: 0, signalCode: null }
    if (exitCode === null && signalCode === null) return
    this.#watcher = this.#start(['watch', this.runs, '--json', '--ttl', String(TTL_S)])
  }

  /** Sends all there is, and ends. */
  async watchOnce(): Promise<string> {
    const program = this.#start(['watch', this.runs, '--json', '--once', '--ttl', String(TTL_S)])
    await program.ended
    return program.complaint()
  }

  /** As `kill` does, or a terminal. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): Promise<unknown> {
    this.#watcher?.child.kill(name)
    return this.#watcher?.ended ?? Promise.resolve()
  }

  resume(run: string, ...more: readonly string[]): Program {
    return this.#start(['resume', run, '--to', this.runs, '--json', ...more])
  }

  #start(args: readonly string[]): Program {
    return startProgram(CLI, args, this.#variables, (line) => this.#hear(line))
  }

  #hear(line: string): void {
    if (!line.endsWith('}')) return // the last word of one that was killed
    const { run_id, tail, trouble } = JSON.parse(line) as Said
    if (trouble?.code === 'fenced') this.refused++
    if (run_id === undefined || tail === undefined) return
    this.acked.set(run_id, Math.max(tail, this.acked.get(run_id) ?? 0))
  }
}
