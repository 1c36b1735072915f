import { readMetaWithSecret, readRecord, readStream } from '#codec'
import { type Folding, type FoldState, fold, NO_HEADER, pendingBatchOf, windowView } from '#fold'
import { type PendingBatch, RunfoldError, type RunMeta } from '#schema'

/** What a daemon goes on from, folded from the raw bytes of an archive. */
export interface FoldedFile {
  /** The newest meta with the newest status, `callback_secret` included: it must reach no output but the run folder. */
  readonly meta: RunMeta
  /** As jsonBytes writes it. */
  readonly context: ReturnType<typeof windowView>
  readonly pending: PendingBatch | null
}

const META_KINDS: ReadonlySet<string> = new Set(['Header', 'Checkpoint', 'Progress'])

/** @throws bad_frames, reason `no_header`, where the first readable record is no Header */
export const foldFile = async (bytes: AsyncIterable<Uint8Array>): Promise<FoldedFile> => {
  let state: Folding
  let newest: Uint8Array | undefined
  for await (const item of readStream(bytes, readRecord)) {
    if (item.type !== 'record') continue
    state = fold(state, item.record, { messages: false, inference_usage: false })
    if (META_KINDS.has(item.record.kind)) newest = item.frame.payload
  }
  const { meta, context } = headed(state)
  const written = newest && readMetaWithSecret(newest)
  return {
    meta: { ...(written as RunMeta), status: meta.facts.status },
    context: windowView(context),
    pending: pendingBatchOf(headed(state)),
  }
}

const headed = (state: Folding): FoldState => {
  if (state && state !== NO_HEADER) return state
  throw noHeader('the archive does not begin with a Header')
}

export const noHeader = (what: string): RunfoldError =>
  new RunfoldError('bad_frames', `${what}: there is nothing that a daemon could go on from`, {
    reason: 'no_header',
  })
