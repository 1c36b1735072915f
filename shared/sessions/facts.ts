import type { Value, ValueMap } from './exact-json.ts'
import type { SavedMap } from './state.ts'
import { detached, textOf } from './values.ts'

/** What a transcript says of its session as a whole, record by record. */
export class Facts {
  cwd: string | undefined
  title: string | undefined
  /** The last one seen. */
  model: string | undefined
  branch: string | undefined
  commit: string | undefined
  remote: string | undefined
  /** The least and the greatest time of a record: clocks go back. */
  createdAt: string | undefined
  updatedAt: string | undefined
  /** What only this harness knows, in order of first appearance. */
  readonly extra = new Map<string, Value>()
  readonly unknown = new Map<string, number>()

  /** A record of this time (`timeOf`) was there. */
  seenAt(time: string | undefined): void {
    if (time === undefined) return
    if (this.createdAt === undefined || time < this.createdAt) this.createdAt = time
    if (this.updatedAt === undefined || time > this.updatedAt) this.updatedAt = time
  }

  /** The first one stands. */
  seenCwd(value: Value | undefined): void {
    this.cwd ??= kept(value)
  }

  /** The first one stands. */
  seenBranch(value: Value | undefined): void {
    this.branch ??= kept(value)
  }

  seenModel(value: Value | undefined): void {
    const model = textOf(value)
    if (model !== undefined && model !== this.model) this.model = detached(model)
  }

  /** A text that only this harness has; the last one stands, at the place of the first. */
  seenExtra(name: string, value: Value | undefined): void {
    const text = textOf(value)
    if (text !== undefined && text !== this.extra.get(name)) this.extra.set(name, detached(text))
  }

  /** A record of a type that this parser does not know. */
  unknownRecord(type: string): void {
    const known = this.unknown.get(type)
    this.unknown.set(known === undefined ? detached(type) : type, (known ?? 0) + 1)
  }

  save(): unknown {
    const { cwd, title, model, branch, commit, remote, createdAt, updatedAt, extra, unknown } = this
    return { cwd, title, model, branch, commit, remote, createdAt, updatedAt, extra, unknown }
  }

  static load(saved: SavedMap): Facts {
    const facts = new Facts()
    for (const name of TEXTS) facts[name] = saved.text(name)
    for (const [name, value] of saved.map('extra').fields) facts.extra.set(name, value)
    const unknown = saved.map('unknown')
    for (const type of unknown.fields.keys()) facts.unknown.set(type, unknown.int(type))
    return facts
  }
}

const TEXTS = ['cwd', 'title', 'model', 'branch', 'commit', 'remote', 'createdAt', 'updatedAt'] as const

/** A text to be kept for longer than its record. */
export function kept(value: Value | undefined): string | undefined {
  const text = textOf(value)
  return text === undefined ? undefined : detached(text)
}

/** The members of these names, in this order, that are there and not null. */
export function picked(record: ValueMap, names: readonly string[]): Map<string, Value> {
  const found = new Map<string, Value>()
  for (const name of names) {
    const value = record.get(name)
    if (value !== undefined && value !== null) found.set(name, value)
  }
  return found
}
