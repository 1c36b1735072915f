import type { Client } from '#client'
import type { Counters } from './counters.ts'
import type { SecretScan } from './scanning.ts'
import type { Identity } from './source-file.ts'
import type { SyncStates } from './states.ts'

/** What a sync of any session stands on. */
export interface Syncing {
  readonly client: Client
  /** The configured name of this machine. */
  readonly machine: string
  readonly states: SyncStates
  readonly counters: Counters
  /** Bytes of one request, at most. */
  readonly batchBytes: number
  /** Left out, nothing is looked for. */
  readonly scan?: SecretScan | undefined
  readonly refusesSecrets: boolean
  readonly verifies: boolean
  readonly isDry: boolean
  readonly sendsLooseEnd: (file: Identity) => boolean
  readonly signal: AbortSignal
}
