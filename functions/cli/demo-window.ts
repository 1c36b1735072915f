import type { Entry, Region, RegionDelta } from '#schema'

/** The demo run's context window: each change is made and told as the operation a daemon would write. */
export class DemoWindow {
  readonly regions: Region[]

  constructor(regions: readonly Region[]) {
    this.regions = [...regions]
  }

  get tokens(): number {
    return this.regions.reduce((sum, { current_tokens }) => sum + Number(current_tokens), 0)
  }

  entries(name: string): readonly Entry[] {
    return this.#find(name).entries
  }

  append(name: string, entries: Entry[]): RegionDelta {
    const { current_tokens } = this.#put(name, [...this.entries(name), ...entries])
    return { Append: { name, entries, current_tokens } }
  }

  rewrite(name: string, entries: Entry[]): RegionDelta {
    return { Set: this.#put(name, entries) }
  }

  clear(name: string): RegionDelta {
    this.#put(name, [])
    return { Clear: { name } }
  }

  /** A sliding window that evicts is written whole (LVR1.md 5.1). */
  slide(name: string, entries: Entry[], max: number): RegionDelta {
    const all = [...this.entries(name), ...entries]
    return all.length > max ? this.rewrite(name, all.slice(-max)) : this.append(name, entries)
  }

  #find(name: string): Region {
    const region = this.regions.find((one) => one.name === name)
    if (!region) throw new Error(`the demo has no region ${name}`)
    return region
  }

  #put(name: string, entries: Entry[]): Region {
    const region = demoRegion(this.#find(name), entries)
    this.regions[this.regions.indexOf(this.#find(name))] = region
    return region
  }
}

export function demoRegion(
  { name, kind, description = null }: { name: string; kind: string; description?: string | null },
  entries: Entry[],
): Region {
  const current_tokens = entries.reduce((sum, { tokens }) => sum + Number(tokens), 0)
  return { name, kind, current_tokens, max_tokens: 50_000, entries, description }
}
