import { createHash } from 'node:crypto'
import { homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '#client'
import { type Harness, isRunfoldError, machineName } from '#schema'
import { type Counters, newCounters } from './counters.ts'
import { cwdOf } from './cwd.ts'
import { openLastingStates } from './lasting-states.ts'
import { type SyncEvents, type SyncScope, syncOnce } from './sync.ts'
import type { Syncing } from './syncing.ts'
import { isQuiet, watchSessions } from './watch-sessions.ts'

type Variables = Readonly<Record<string, string | undefined>>

export interface SyncOptions {
  readonly client: Client
  /** Of the server; what is remembered is remembered of it alone. */
  readonly url: string
  readonly env: Variables
  readonly machine: string
  readonly harnesses?: readonly Harness[] | undefined
  /** Only sessions held in this folder or below it. */
  readonly cwd?: string | undefined
  readonly looksForSecrets: boolean
  readonly refusesSecrets: boolean
  readonly verifies: boolean
  readonly isDry: boolean
  readonly signal: AbortSignal
}

export interface OpenSync extends Disposable {
  readonly counters: Counters
  once(events: SyncEvents): Promise<void>
  /** Until `stop` aborts. */
  watch(events: SyncEvents, stop: AbortSignal): Promise<void>
}

const BATCH_BYTES = 4 << 20
const AGAIN_MS = 1000

/** This machine's name among the sessions: the one that is configured, else what the system is called. */
export const machineOf = (env: Variables, given?: string): string => {
  const name = given ?? env.RUNFOLD_MACHINE
  if (name) return machineName.parse(name)
  return (
    machineName.safeParse(
      hostname()
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/^[^A-Za-z0-9]+/, '')
        .slice(0, 64),
    ).data ?? 'this-machine'
  )
}

/** `$XDG_STATE_HOME/runfold/sessions/<hash of server and machine>`: another server has heard of nothing. */
const stateFolder = (env: Variables, url: string, machine: string): string => {
  const home = env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state')
  const hash = createHash('sha256')
    .update(`${new URL(url).href}\n${machine}`)
    .digest('hex')
    .slice(0, 12)
  return join(home, 'runfold', 'sessions', hash)
}

/** Opens what a sync of this machine's sessions needs; whoever opens it disposes of it. */
export const openSync = async (options: SyncOptions): Promise<OpenSync> => {
  const { client, env, machine, url, harnesses, cwd, signal } = options
  const { scanForSecrets } = await import('./secret-scan.ts')
  const states = openLastingStates(stateFolder(env, url, machine))
  const counters = newCounters()
  const syncing: Omit<Syncing, 'batchBytes'> = {
    client,
    machine,
    states,
    counters,
    ...(options.looksForSecrets && { scan: scanForSecrets }),
    refusesSecrets: options.refusesSecrets,
    verifies: options.verifies,
    isDry: options.isDry,
    sendsLooseEnd: () => true,
    signal,
  }
  const scope: SyncScope = { env, harnesses, ...(cwd !== undefined && { wants: heldIn(resolve(cwd)) }) }
  return {
    counters,
    once: async (events) => syncOnce({ ...syncing, batchBytes: await batchBytesOf(client) }, scope, events),
    watch: async (events, stop) => {
      const batchBytes = await onceReached(() => batchBytesOf(client), events, stop)
      if (batchBytes === undefined) return
      await watchSessions({ ...syncing, batchBytes, sendsLooseEnd: isQuiet }, scope, events, stop)
    },
    [Symbol.dispose]: () => states[Symbol.dispose](),
  }
}

const batchBytesOf = async (client: Client): Promise<number> => {
  const { limits } = await client.capabilities()
  return Math.min(BATCH_BYTES, limits.max_batch_bytes)
}

/** A machine may start before its network does: what is to be watched lies in the files until then. Undefined once stopped. */
const onceReached = async <T>(
  ask: () => Promise<T>,
  events: SyncEvents,
  stop: AbortSignal,
): Promise<T | undefined> => {
  while (!stop.aborted) {
    try {
      return await ask()
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable', 'slow_down')) throw error
      events.away?.(error.message)
      await sleep(AGAIN_MS, undefined, { signal: stop }).catch(() => undefined)
    }
  }
  return undefined
}

const heldIn =
  (folder: string): NonNullable<SyncScope['wants']> =>
  async (session) => {
    const cwd = await cwdOf(session)
    return cwd !== undefined && (cwd === folder || cwd.startsWith(`${folder}/`))
  }
