import { type HeldRecord, pickMeta } from '../codec/index.ts'
import type { InferenceUsage, Int, RecordKind, UsageAnswer, UsageSource } from '../schema/index.ts'
import { USAGE_NAMES_MAX } from '../schema/index.ts'
import { cutText } from './card.ts'
import { TokenSeries } from './token-series.ts'
import { type Counters, grownBy, TokenSum } from './token-sum.ts'

/** All of a usage answer but whose it is. */
export type Usage = Omit<UsageAnswer, 'run_id'>

/**
 * What the calls of a run have used, record by record. A run may tell of the same call three times: by an InferenceUsage,
 * by an Inference, and by the growing counters of its meta. Only the first kind of these that it has is counted.
 */
export class UsageTally {
  #source: UsageSource = 'none'
  #breakdown = new Breakdown()
  #counters: Counters | undefined

  /** Whether a record of this kind can still count; others need not be read. */
  wants(kind: RecordKind): boolean {
    const source = SOURCE_OF[kind]
    return source !== undefined && RANK[source] >= RANK[this.#source]
  }

  /** Readable records, in order. */
  add(record: HeldRecord): void {
    if (!this.wants(record.kind)) return
    switch (record.kind) {
      case 'InferenceUsage': {
        const usage = record.usage.read()
        this.#count('InferenceUsage', usage, usage)
        break
      }
      case 'Inference': {
        const { stage, at, request, response } = record.inference.read()
        this.#count('Inference', { stage, at, model: request.model, kind: null }, response)
        break
      }
      case 'Header':
      case 'Progress':
      case 'Checkpoint': {
        const meta = pickMeta(record.meta, ...FROM_META)
        const { model, current_stage: stage, updated_at } = meta
        // Counters go on from record to record: what they grew by was used since, what they fell by is taken back.
        const grown = grownBy(meta, this.#counters)
        this.#counters = meta
        this.#count('meta', { model, stage, kind: null, at: record.at ?? updated_at }, grown)
      }
    }
  }

  value(): Usage {
    const source = this.#source
    return { source, ...this.#breakdown.value(source !== 'meta') }
  }

  #count(source: UsageSource, call: Call, used: Counters): void {
    if (this.#source !== source) this.#breakdown = new Breakdown()
    this.#source = source
    this.#breakdown.add(call, used)
  }
}

const SOURCE_OF: { readonly [kind in RecordKind]?: UsageSource } = {
  InferenceUsage: 'InferenceUsage',
  Inference: 'Inference',
  Header: 'meta',
  Progress: 'meta',
  Checkpoint: 'meta',
}

/** Which source tells more. */
const RANK: Readonly<Record<UsageSource, number>> = { none: 0, meta: 1, Inference: 2, InferenceUsage: 3 }

const FROM_META = [
  'model',
  'current_stage',
  'updated_at',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'cache_write_tokens',
] as const

interface Call {
  readonly model: string | null
  readonly stage: string
  readonly kind: InferenceUsage['kind'] | null
  readonly at: Int
}

/** The same calls summed up in every way that is shown. */
class Breakdown {
  readonly #totals = new TokenSum()
  readonly #models = new Map<string | null, TokenSum>()
  readonly #stages = new Map<string | null, TokenSum>()
  readonly #kinds = new Map<InferenceUsage['kind'], TokenSum>()
  readonly #series = new TokenSeries()

  add({ model, stage, kind, at }: Call, used: Counters): void {
    this.#totals.add(used)
    sumOf(this.#models, model === null ? null : cutText(model)).add(used)
    sumOf(this.#stages, cutText(stage)).add(used)
    if (kind !== null) sumOf(this.#kinds, kind).add(used)
    this.#series.add(at, used)
  }

  value(knowsCalls: boolean): Omit<Usage, 'source'> {
    const list = <K, N extends string>(name: N, sums: ReadonlyMap<K, TokenSum>) =>
      Array.from(sums, ([key, sum]) => ({ [name]: key, ...sum.value(knowsCalls) }) as Named<N, K>)
    return {
      totals: this.#totals.value(knowsCalls),
      by_model: list('model', this.#models),
      by_stage: list('stage', this.#stages),
      by_kind: list('kind', this.#kinds),
      ...this.#series.value(knowsCalls),
    }
  }
}

type Named<N extends string, K> = { [name in N]: K } & ReturnType<TokenSum['value']>

/** Names past the limit are summed up as one, which has none, so that no run can fill the memory with them. */
function sumOf<K>(sums: Map<K | null, TokenSum> | Map<K, TokenSum>, name: K): TokenSum {
  const known = sums as Map<K | null, TokenSum>
  const key = known.has(name) || known.size < USAGE_NAMES_MAX ? name : null
  const sum = known.get(key) ?? new TokenSum()
  known.set(key, sum)
  return sum
}
