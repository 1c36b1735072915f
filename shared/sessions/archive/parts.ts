import type { SessionKey } from '../../schema/index.ts'
import type { Clock, StorePorts } from '../../store/ports.ts'
import type { Counters } from '../adapter.ts'
import type { Turns } from './turns.ts'

/** What all of the archive's logic stands on. */
export interface SessionParts {
  readonly ports: Pick<StorePorts, 'objects' | 'sessions'>
  readonly clock: Clock
  readonly limits: {
    /** Largest decoded body of one append. */
    readonly max_batch_bytes: number
  }
  /** Derivations of one session wait for each other within this process. */
  readonly turns: Turns
  /** Told of derivations that failed; nobody else hears why. */
  readonly failed?: ((session: SessionKey, error: unknown) => void) | undefined
  /** Told after each derivation what work it was. */
  readonly observe?: ((session: SessionKey, work: Counters) => void) | undefined
}

/** How often one request may find that another was quicker before it is told to come again. */
export const MAX_ATTEMPTS = 64
