import type { Region } from './window.ts'

/** Look-ups by walking before an index of names is worth making. */
const WALKS = 16

/**
 * The regions of a window while a delta is applied. Windows have a few regions and deltas fewer operations, so a name is
 * looked for by walking; an index takes over when there are many, and the work stays linear however many they are.
 */
export class RegionEdits {
  readonly #regions: (Region | undefined)[]
  #walks = 0
  /** Places of each name that is there, in order; names may repeat. */
  #places: Map<string, number[]> | undefined

  constructor(regions: readonly Region[]) {
    this.#regions = [...regions]
  }

  /** Changes the first region of that name; says whether there is one. */
  change(name: string, edit: (region: Region) => Region): boolean {
    const place = this.#placesOf(name)[0]
    if (place === undefined) return false
    this.#regions[place] = edit(this.#regions[place] as Region)
    return true
  }

  /** Puts a region of a new name at the end. */
  push(region: Region): void {
    const place = this.#regions.push(region) - 1
    this.#places?.set(region.name, [place])
  }

  /** Drops every region of that name. */
  remove(name: string): void {
    for (const place of this.#placesOf(name)) this.#regions[place] = undefined
    this.#places?.delete(name)
  }

  finish(): Region[] {
    return this.#regions.filter((region) => region !== undefined)
  }

  #placesOf(name: string): readonly number[] {
    if (!this.#places && this.#walks++ < WALKS) return this.#walk(name)
    this.#places ??= placesByName(this.#regions)
    return this.#places.get(name) ?? []
  }

  #walk(name: string): number[] {
    const places: number[] = []
    for (let place = 0; place < this.#regions.length; place++) {
      if (this.#regions[place]?.name === name) places.push(place)
    }
    return places
  }
}

/** Where the regions of each name stand, in order. */
export function placesByName(regions: readonly (Region | undefined)[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (const [place, region] of regions.entries()) {
    if (!region) continue
    const known = places.get(region.name)
    if (known) known.push(place)
    else places.set(region.name, [place])
  }
  return places
}
