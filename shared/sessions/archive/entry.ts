import type { CatalogEntry } from '../../schema/index.ts'

/** The head holds the entry and stays small, so no text of it may be of unbounded length. */
const TEXT_CHARS = 4096

/** The entry with over-long texts cut. */
export function boundedEntry(entry: CatalogEntry): CatalogEntry {
  return bounded(entry)
}

function bounded<T>(value: T): T {
  if (typeof value === 'string') return cut(value) as T
  if (value === null || typeof value !== 'object' || !isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, bounded(inner)])) as T
}

/** Counts of tokens are objects of a class, and stay what they are. */
const isPlain = (value: object) => Object.getPrototypeOf(value) === Object.prototype

function cut(text: string): string {
  if (text.length <= TEXT_CHARS) return text
  return `${text.slice(0, TEXT_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
