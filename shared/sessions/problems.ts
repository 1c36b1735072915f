import { JsonNumber } from '../schema/index.ts'
import type { Problem, ProblemCode } from './document.ts'
import type { Value } from './exact-json.ts'
import type { LinePlace } from './lines.ts'
import type { SavedMap } from './state.ts'

/** So many are listed; all are counted. */
const LISTED = 100

/** What was wrong with a transcript, in file order. */
export class Problems {
  #count = 0
  #badLines = 0
  #firstBadLine: number | undefined
  readonly #listed: Problem[] = []

  add(problem: Problem): void {
    this.#count++
    if (this.#listed.length < LISTED) this.#listed.push(problem)
  }

  /** A line that gave no record. */
  badLine(code: ProblemCode, path: string, { line, offset, bytes }: LinePlace): void {
    this.noRecord(line)
    this.add({ code, path, line, offset, bytes })
  }

  /** A line that gave no record, for a reason that is listed already. */
  noRecord(line: number): void {
    this.#badLines++
    this.#firstBadLine ??= line
  }

  get count(): number {
    return this.#count
  }

  get badLines() {
    return { count: this.#badLines, first: this.#firstBadLine }
  }

  get listed(): readonly Problem[] {
    return this.#listed
  }

  save(): unknown {
    const { count, first } = this.badLines
    return { count: this.#count, bad_lines: count, first, listed: this.#listed }
  }

  static load(saved: SavedMap): Problems {
    const problems = new Problems()
    problems.#count = saved.int('count')
    problems.#badLines = saved.int('bad_lines')
    if (saved.fields.has('first')) problems.#firstBadLine = saved.int('first')
    for (const item of saved.list('listed')) {
      problems.#listed.push(
        Object.fromEntries([...(item as Map<string, Value>)].map(plain)) as unknown as Problem,
      )
    }
    return problems
  }
}

const plain = ([name, value]: readonly [string, Value]) => [
  name,
  value instanceof JsonNumber ? Number(value.text) : value,
]
