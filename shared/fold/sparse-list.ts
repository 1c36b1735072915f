/** Slots of a node. */
const WIDTH = 32
const BITS = 5

/** A node of the lowest level holds items, of a higher one nodes; empty slots and subtrees are undefined. */
type Node<T> = readonly (Node<T> | T | undefined)[]

/**
 * A persistent list of numbered places, some of which may be empty. A new version copies the nodes on the way to the place
 * it changes and shares all others, so every version stays what it was and each costs O(log places).
 */
export class SparseList<T extends object> {
  /** How many places have an item. */
  readonly count: number
  /** Behind the last place that ever had one. */
  readonly end: number
  readonly #root: Node<T>
  /** Of the place's bits, how many the levels below the root take. */
  readonly #shift: number

  private constructor(root: Node<T>, shift: number, count: number, end: number) {
    this.#root = root
    this.#shift = shift
    this.count = count
    this.end = end
  }

  static of<T extends object>(items: readonly T[]): SparseList<T> {
    let shift = 0
    let level: Node<T> = items
    for (; level.length > WIDTH; shift += BITS) {
      const nodes: Node<T>[] = []
      for (let at = 0; at < level.length; at += WIDTH) nodes.push(level.slice(at, at + WIDTH))
      level = nodes
    }
    return new SparseList(level, shift, items.length, items.length)
  }

  at(place: number): T | undefined {
    if (place >= this.end) return undefined
    let node: Node<T> | T | undefined = this.#root
    for (let shift = this.#shift; shift >= 0 && node; shift -= BITS) {
      node = (node as Node<T>)[(place >>> shift) % WIDTH]
    }
    return node as T | undefined
  }

  /** The list with this item at the place, or with none. @param place up to `end`, below 2^30 */
  with(place: number, item: T | undefined): SparseList<T> {
    const count = this.count + Number(item !== undefined) - Number(this.at(place) !== undefined)
    const isFull = place >>> this.#shift >= WIDTH
    const root = isFull ? [this.#root] : this.#root
    const shift = isFull ? this.#shift + BITS : this.#shift
    const changed = changedNode(root, shift, place, item) ?? []
    return new SparseList(changed, shift, count, Math.max(this.end, place + 1))
  }

  /** Goes over the items in order. */
  visit(take: (item: T, place: number) => void): void {
    visitNode(this.#root, this.#shift, 0, take)
  }
}

/** Undefined when nothing is left in it, so that whoever goes over the list meets no empty nodes. */
function changedNode<T>(
  node: Node<T>,
  shift: number,
  place: number,
  item: T | undefined,
): Node<T> | undefined {
  const slot = (place >>> shift) % WIDTH
  const below = shift === 0 ? item : changedNode((node[slot] ?? []) as Node<T>, shift - BITS, place, item)
  const copy = node.slice()
  copy[slot] = below
  return below === undefined && copy.every((one) => one === undefined) ? undefined : copy
}

function visitNode<T>(
  node: Node<T>,
  shift: number,
  first: number,
  take: (item: T, place: number) => void,
): void {
  for (let slot = 0; slot < node.length; slot++) {
    const below = node[slot]
    if (below === undefined) continue
    const place = first + slot * 2 ** shift
    if (shift === 0) take(below as T, place)
    else visitNode(below as Node<T>, shift - BITS, place, take)
  }
}
