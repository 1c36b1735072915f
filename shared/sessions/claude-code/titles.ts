import type { ValueMap } from '../exact-json.ts'
import { kept } from '../facts.ts'
import type { SavedMap } from '../state.ts'

/** What a session was called: by a person, by the harness, or by the summary it begins with. */
export class Titles {
  #custom: string | undefined
  #ai: string | undefined
  #summary: string | undefined

  /** Whether the record was one that names the session. */
  take(record: ValueMap): boolean {
    switch (record.get('type')) {
      case 'custom-title':
        this.#custom = kept(record.get('customTitle')) ?? this.#custom
        return true
      case 'ai-title':
        this.#ai = kept(record.get('aiTitle')) ?? this.#ai
        return true
      case 'summary':
        this.#summary ??= kept(record.get('summary'))
        return true
      default:
        return false
    }
  }

  get best(): string | undefined {
    return this.#custom ?? this.#ai ?? this.#summary
  }

  save(): unknown {
    return { custom: this.#custom, ai: this.#ai, summary: this.#summary }
  }

  static load(saved: SavedMap): Titles {
    const titles = new Titles()
    titles.#custom = saved.text('custom')
    titles.#ai = saved.text('ai')
    titles.#summary = saved.text('summary')
    return titles
  }
}
