import type { Value } from './exact-json.ts'
import { detached } from './values.ts'

/** So many calls are remembered, the newest ones (SESSIONS.md 4.0). */
const REMEMBERED = 4096

/** Which tool a result is of: the one that was called under its id earlier in the transcript. */
export class ToolNames {
  readonly #names = new Map<string, string>()
  readonly #tools = new Map<string, string>()

  called(id: string, name: string): void {
    this.#names.delete(id)
    this.#names.set(detached(id), this.#known(name))
    if (this.#names.size <= REMEMBERED) return
    const [oldest] = this.#names.keys()
    if (oldest !== undefined) this.#names.delete(oldest)
  }

  /** Tools are few: each name is kept once. */
  #known(name: string): string {
    if (this.#tools.size >= REMEMBERED) this.#tools.clear()
    const known = this.#tools.get(name) ?? detached(name)
    this.#tools.set(known, known)
    return known
  }

  of(id: string): string | undefined {
    return this.#names.get(id)
  }

  save(): unknown {
    return [...this.#names]
  }

  static load(saved: readonly Value[]): ToolNames {
    const names = new ToolNames()
    for (const [id, name] of saved as readonly (readonly [string, string])[]) names.#names.set(id, name)
    return names
  }
}
