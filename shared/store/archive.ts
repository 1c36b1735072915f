import type {
  AcquireRequest,
  AppendAnswer,
  ClaimRequest,
  CompleteRequest,
  ForkRequest,
  LeaseAnswer,
  LeaseState,
  ListAnswer,
  ListQuery,
  RenewRequest,
  RunAnswer,
  RunKey,
  UploadAnswer,
  UploadRequest,
} from '../schema/index.ts'
import { acquire } from './acquire.ts'
import { type AppendRequest, append } from './append.ts'
import { type ClaimBounds, claim } from './claim/claim.ts'
import { createLooks } from './claim/looks.ts'
import { follow, nextView } from './follow/follow.ts'
import { createLookout } from './follow/lookout.ts'
import { fork } from './fork/fork.ts'
import { living } from './head.ts'
import { leaseState, release, renew } from './lease.ts'
import { type ListBounds, listRuns } from './list.ts'
import { type StoreLimits, type StoreParts, viewOf } from './parts.ts'
import type { Clock, StorePorts } from './ports.ts'
import type { Boundary } from './reading/frames.ts'
import type { FrameItem } from './reading/records.ts'
import type { ArchiveView } from './reading/view.ts'
import { WarmStates } from './reading/warm.ts'
import { remove } from './remove.ts'
import { describeRun } from './runs.ts'
import { abortUpload, completeUpload, openUpload } from './uploads/uploads.ts'
import { WarmHeads } from './warm-heads.ts'

/** All that can be done with runs; who may do it is the edge's business. Every method throws RunfoldErrors alone. */
export interface Archive extends StoreParts {
  acquire(
    run: RunKey,
    request: AcquireRequest,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ created: boolean; answer: LeaseAnswer }>
  renew(run: RunKey, request: RenewRequest): Promise<LeaseAnswer>
  release(run: RunKey, epoch: number): Promise<void>
  leaseState(run: RunKey): Promise<LeaseState>
  /** One run that waits for somebody to carry it on, or undefined; claimants share their looks at what waits. */
  claim(tenant: string, request: ClaimRequest, bounds?: ClaimBounds): Promise<LeaseAnswer | undefined>
  append(run: RunKey, request: AppendRequest): Promise<AppendAnswer>
  openUpload(run: RunKey, request: UploadRequest): Promise<UploadAnswer>
  completeUpload(run: RunKey, upload_id: string, request: CompleteRequest): Promise<AppendAnswer>
  abortUpload(run: RunKey, upload_id: string): Promise<void>
  fork(source: RunKey, request: ForkRequest): Promise<LeaseAnswer>
  list(tenant: string, query: ListQuery, bounds?: ListBounds): Promise<ListAnswer>
  run(run: RunKey): Promise<{ answer: RunAnswer; etag: string }>
  remove(run: RunKey, options: { readonly force: boolean }): Promise<void>
  /** One consistent look at a run, for the functions of reading/. */
  view(run: RunKey): Promise<ArchiveView>
  /** The run as the next look finds it; the same view where it has not grown. Whoever waits shares the looks. */
  next(seen: ArchiveView): Promise<ArchiveView>
  /** The items from a boundary on, also those that come later (follow.ts); followers share their looks at the run. */
  follow(began: ArchiveView, from: Boundary): AsyncGenerator<readonly FrameItem[]>
}

/** What an archive is given beside its ports. */
export interface ArchiveOptions {
  readonly clock: Clock
  readonly limits: StoreLimits
  /** Told of every fold of a whole run: whether it went on from a state that this process had kept. */
  readonly folded?: (isWarm: boolean) => void
}

/** The archive on these ports, with what this process keeps of runs between requests. */
export function createArchive(ports: StorePorts, { folded, ...options }: ArchiveOptions): Archive {
  const heads = new WarmHeads()
  const parts: StoreParts = { ports, ...options, heads }
  const lookout = createLookout(ports.index, options.clock)
  const looks = createLooks(ports.index, options.clock)
  const warm = new WarmStates(folded)
  return {
    ...parts,
    acquire: (run, request, { signal } = {}) => acquire(parts, run, request, signal),
    renew: (run, request) => {
      heads.forget(run)
      return renew(parts, run, request)
    },
    release: (run, epoch) => release(parts, run, epoch),
    leaseState: (run) => leaseState(parts, run),
    claim: (tenant, request, bounds = {}) => claim(parts, looks, tenant, request, bounds),
    append: (run, request) => append(parts, run, request),
    openUpload: (run, request) => openUpload(parts, run, request),
    completeUpload: (run, upload_id, request) => completeUpload(parts, run, upload_id, request),
    abortUpload: (run, upload_id) => abortUpload(parts, run, upload_id),
    fork: (source, request) => fork(parts, source, request),
    list: (tenant, query, bounds) => listRuns(parts, tenant, query, bounds),
    run: (run) => describeRun(parts, run),
    remove: (run, options) => remove(parts, run, options),
    view: async (run) => ({ ...viewOf(parts.ports, run, living(await ports.index.head(run))), warm }),
    next: (seen) => nextView(ports, lookout, seen),
    follow: (began, from) => follow(ports, lookout, began, from),
  }
}
