import type { JsonNumber } from '../schema/index.ts'
import type { Totals, Usage } from './document.ts'
import type { Value, ValueMap } from './exact-json.ts'
import { Fingerprints } from './fingerprints.ts'
import { PackedCounts } from './packed-counts.ts'
import type { SavedMap, StateWriter } from './state.ts'
import { numberOf } from './values.ts'

// What responses have used, and their sum (SESSIONS.md 7). Messages keep the digits they have; sums are exact integers.

const FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_creation_tokens',
  'reasoning_tokens',
] as const
type Field = (typeof FIELDS)[number]

/** Reads a usage object by the names a harness has for its fields; undefined when it has none of them. */
export function usageOf(
  record: ValueMap,
  names: Readonly<Partial<Record<Field, string>>>,
): Usage | undefined {
  const usage: { [field in Field]?: JsonNumber } = {}
  let any = false
  for (const field of FIELDS) {
    const name = names[field]
    const tokens = name === undefined ? undefined : numberOf(record.get(name))
    if (tokens === undefined) continue
    usage[field] = tokens
    any = true
  }
  return any ? usage : undefined
}

/** The sum of usages, each counted once. */
export class UsageTotal {
  readonly #sums = new Map<Field, { tokens: bigint; terms: number }>()

  add(usage: Usage | Totals, sign: 1n | -1n = 1n): void {
    for (const field of FIELDS) {
      const value = usage[field]
      const tokens = typeof value === 'object' ? integerOf(value) : value
      if (tokens === undefined) continue
      const sum = this.#sums.get(field) ?? { tokens: 0n, terms: 0 }
      sum.tokens += sign * tokens
      sum.terms += Number(sign)
      this.#sums.set(field, sum)
    }
  }

  /** Only of the fields that something added has. */
  value(): Totals {
    const totals: { [field in Field]?: bigint } = {}
    for (const [field, { tokens, terms }] of this.#sums) if (terms > 0) totals[field] = tokens
    return totals
  }

  save(): unknown {
    return [...this.#sums].map(([field, { tokens, terms }]) => [field, String(tokens), terms])
  }

  static load(saved: readonly Value[]): UsageTotal {
    const total = new UsageTotal()
    for (const item of saved) {
      const [field, tokens, terms] = item as [Field, string, JsonNumber]
      total.#sums.set(field, { tokens: BigInt(tokens), terms: Number(terms.text) })
    }
    return total
  }
}

/** The sum over responses of which each may be told many times, with growing numbers: the last time counts. */
export class KeyedUsage {
  readonly total: UsageTotal
  readonly #keys: Fingerprints
  /** Of each key, what counts now. */
  readonly #last = new PackedCounts()

  constructor(total = new UsageTotal(), keys = new Fingerprints(), last: readonly string[] = []) {
    this.total = total
    this.#keys = keys
    for (const [number, counts] of last.entries()) this.#last.set(number, counts)
  }

  /** @throws Doubt */
  set(key: string, usage: Usage): void {
    const number = this.#keys.add(key)
    const before = this.#last.get(number)
    if (before !== undefined) this.total.add(unpacked(before), -1n)
    this.total.add(usage)
    this.#last.set(number, packed(usage))
  }

  save(out: StateWriter): unknown {
    const last = new TextEncoder().encode(this.#last.linesFrom(this.#keys.keptFrom))
    return { total: this.total.save(), keys: this.#keys.save(out), last: out.blob(last) }
  }

  static load(saved: SavedMap): KeyedUsage {
    const keys = Fingerprints.load(saved.map('keys'))
    const last = keys.size === 0 ? [] : new TextDecoder().decode(saved.blob('last')).split('\n')
    return new KeyedUsage(UsageTotal.load(saved.list('total')), keys, last)
  }
}

/** `4,141,18211,,`: few bytes, as there is one for every response of a long session. */
function packed(usage: Usage): string {
  return FIELDS.map((field) => {
    const tokens = usage[field]
    return tokens === undefined ? '' : String(integerOf(tokens) ?? '')
  }).join(',')
}

function unpacked(text: string): Totals {
  const tokens = text.split(',')
  return Object.fromEntries(FIELDS.flatMap((field, i) => (tokens[i] ? [[field, BigInt(tokens[i])]] : [])))
}

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/
/** A longer spelling is not looked at: it could only be of zeros. */
const MOST_LETTERS = 100
/** No count of tokens is longer; `1e999999999` must not become an integer of a gigabyte. */
const MOST_DIGITS = 40

/** The integer that is spelled here in any way; undefined for a fraction, or what no count can be. */
export function integerOf({ text }: JsonNumber): bigint | undefined {
  if (text.length > MOST_LETTERS) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+(?=.)/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return 0n
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length
  if (zeros < 0 || significant.length + zeros > MOST_DIGITS) return undefined
  return BigInt(sign + significant + '0'.repeat(zeros))
}
