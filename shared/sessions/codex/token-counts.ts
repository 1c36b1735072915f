import { JsonNumber } from '../../schema/index.ts'
import type { Usage } from '../document.ts'
import type { ValueMap } from '../exact-json.ts'
import type { SavedMap } from '../state.ts'
import { integerOf, usageOf } from '../usage.ts'
import { mapOf } from '../values.ts'

/** Codex counts cached tokens among the input ones (SESSIONS.md 7). */
const NAMES = {
  input_tokens: 'input_tokens',
  output_tokens: 'output_tokens',
  cache_read_tokens: 'cached_input_tokens',
  reasoning_tokens: 'reasoning_output_tokens',
} as const

const FIELDS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'reasoning_tokens'] as const
type Sums = { readonly [field in (typeof FIELDS)[number]]?: bigint }

/** What the `token_count` events of a rollout say that was used, one after the other. */
export class TokenCounts {
  /** The total of the one before. */
  #total: Sums | undefined

  constructor(saved?: SavedMap) {
    if (saved === undefined || saved.fields.size === 0) return
    this.#total = Object.fromEntries([...saved.fields].map(([field, sum]) => [field, BigInt(sum as string)]))
  }

  /** The usage that is new with this `info`; undefined for a repeat, or when it tells of none. */
  take(info: ValueMap): Usage | undefined {
    const last = usageOf(mapOf(info.get('last_token_usage')), NAMES)
    const told = usageOf(mapOf(info.get('total_token_usage')), NAMES)
    if (told === undefined) return last
    const before = this.#total
    const total = sumsOf(told)
    this.#total = total
    if (before !== undefined && FIELDS.every((field) => before[field] === total[field])) return undefined
    return last ?? growth(told, total, before ?? {})
  }

  save(): unknown {
    return Object.fromEntries(Object.entries(this.#total ?? {}).map(([field, sum]) => [field, String(sum)]))
  }
}

function sumsOf(told: Usage): Sums {
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const tokens = told[field]
      const sum = tokens && integerOf(tokens)
      return sum === undefined ? [] : [[field, sum]]
    }),
  )
}

/** By how much the total grew. One that fell was begun anew: then it is itself what was used. */
function growth(told: Usage, total: Sums, before: Sums): Usage {
  const fell = FIELDS.some((field) => (total[field] ?? 0n) < (before[field] ?? 0n))
  if (fell) return told
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const sum = total[field]
      return sum === undefined ? [] : [[field, new JsonNumber(String(sum - (before[field] ?? 0n)))]]
    }),
  )
}
