import { SparseList } from './sparse-list.ts'
import type { Region } from './window.ts'

/** Windows have a few regions; up to so many, looking at all of them and copying the list is the fastest there is. */
const FEW = 16

/**
 * The regions of a window, in order. Persistent: an operation gives new regions and leaves these as they are. Names may
 * repeat; then a name means its first region, but for `remove`.
 */
export abstract class Regions implements Iterable<Region> {
  abstract readonly length: number

  /** All of them, in order; not to be changed. */
  abstract list(): readonly Region[]

  /** With the first region of that name changed; undefined when there is none. */
  abstract change(name: string, edit: (region: Region) => Region): Regions | undefined

  /** With a region of a new name at the end. */
  abstract push(region: Region): Regions

  /** Without every region of that name. */
  abstract remove(name: string): Regions

  map<T>(to: (region: Region) => T): T[] {
    return this.list().map(to)
  }

  [Symbol.iterator](): Iterator<Region> {
    return this.list()[Symbol.iterator]()
  }
}

/** The regions of a list, kept in the way that is the fastest for so many. */
export function regionsOf(list: readonly Region[]): Regions {
  return list.length <= FEW ? new FewRegions(list) : new ManyRegions(SparseList.of(list))
}

class FewRegions extends Regions {
  readonly #list: readonly Region[]

  constructor(list: readonly Region[]) {
    super()
    this.#list = list
  }

  get length(): number {
    return this.#list.length
  }

  list(): readonly Region[] {
    return this.#list
  }

  change(name: string, edit: (region: Region) => Region): Regions | undefined {
    const place = this.#list.findIndex((region) => region.name === name)
    const region = this.#list[place]
    if (region === undefined) return undefined
    const list = this.#list.slice()
    list[place] = edit(region)
    return new FewRegions(list)
  }

  push(region: Region): Regions {
    return regionsOf([...this.#list, region])
  }

  remove(name: string): Regions {
    return new FewRegions(this.#list.filter((region) => region.name !== name))
  }
}

/**
 * Where the regions of each name stand. Versions share it as long as none comes or goes; then it is handed on to the new
 * version, and an older one that is edited again makes its own.
 */
interface NameIndex {
  places: Map<string, number[]> | undefined
}

/** However many regions there are, an operation costs O(log regions), and the same for every region it removes. */
class ManyRegions extends Regions {
  readonly #regions: SparseList<Region>
  readonly #index: NameIndex

  constructor(regions: SparseList<Region>, index: NameIndex = { places: undefined }) {
    super()
    this.#regions = regions
    this.#index = index
  }

  get length(): number {
    return this.#regions.count
  }

  list(): readonly Region[] {
    const list: Region[] = []
    this.#regions.visit((region) => list.push(region))
    return list
  }

  change(name: string, edit: (region: Region) => Region): Regions | undefined {
    const place = this.#places().get(name)?.[0]
    if (place === undefined) return undefined
    const region = this.#regions.at(place) as Region
    return new ManyRegions(this.#regions.with(place, edit(region)), this.#index)
  }

  push(region: Region): Regions {
    const places = this.#takePlaces()
    places.set(region.name, [this.#regions.end])
    return new ManyRegions(this.#regions.with(this.#regions.end, region), { places })
  }

  remove(name: string): Regions {
    const gone = this.#places().get(name)
    if (gone === undefined) return this
    let regions = this.#regions
    for (const place of gone) regions = regions.with(place, undefined)
    const places = this.#takePlaces()
    places.delete(name)
    const left = new ManyRegions(regions, { places })
    return left.length <= FEW ? new FewRegions(left.list()) : left
  }

  #places(): Map<string, number[]> {
    if (this.#index.places === undefined) {
      const places = new Map<string, number[]>()
      this.#regions.visit(({ name }, place) => notePlace(places, name, place))
      this.#index.places = places
    }
    return this.#index.places
  }

  /** The same for the next version to change. */
  #takePlaces(): Map<string, number[]> {
    const places = this.#places()
    this.#index.places = undefined
    return places
  }
}

/** Where the regions of each name stand, in order. */
export function placesByName(regions: readonly Region[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  regions.forEach(({ name }, place) => {
    notePlace(places, name, place)
  })
  return places
}

function notePlace(places: Map<string, number[]>, name: string, place: number): void {
  const known = places.get(name)
  if (known) known.push(place)
  else places.set(name, [place])
}
