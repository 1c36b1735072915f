import type { RunKey } from '../schema/index.ts'
import type { Clock, Head, StorePorts } from './ports.ts'
import type { ArchiveView } from './reading/view.ts'
import { openView } from './reading/view.ts'
import type { WarmHeads } from './warm-heads.ts'

/** Bytes that requests are held to; `capabilities` tells them. */
export interface StoreLimits {
  /** Largest decoded body of one append. */
  readonly max_batch_bytes: number
  /** Largest frame of a direct upload; told in refusals. */
  readonly max_frame_bytes: number
}

/** What all of the store's logic stands on. */
export interface StoreParts {
  readonly ports: StorePorts
  readonly clock: Clock
  readonly limits: StoreLimits
  /** What this process still knows of heads. */
  readonly heads?: WarmHeads
}

/** How often one request may find that another was quicker before it is told to come again. */
export const MAX_ATTEMPTS = 64

/** The archive as `head` names it; a read that meets a vanished object looks at the head again. */
export function viewOf({ objects, index }: StorePorts, run: RunKey, head: Head): ArchiveView {
  return openView(objects, run, head, () => index.head(run))
}
