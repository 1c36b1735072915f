import { METERED, type Metered } from './tariff.ts'

interface Reading {
  readonly requests: number
  /** Of objects: moved bytes, copied ones too. Of items: their sizes. */
  readonly bytes: number
  /** Read units of 4 KB or write units of 1 KB, rows of indexes included. */
  readonly units: number
}

/** What was counted, by kind of request. */
export interface Readings extends Readonly<Record<Metered, Reading>> {
  /** Of the heads as they were written. */
  readonly heads: { readonly written: number; readonly bytes: number; readonly largest: number }
}

/** Bytes of one read unit. */
export const READ_UNIT = 4096
const WRITE_UNIT = 1024

/** Adds up what ports are asked. */
export class Counter {
  #of = blank()
  #heads = { written: 0, bytes: 0, largest: 0 }

  add(kind: Metered, bytes: number, units = 0): void {
    const { requests, bytes: more, units: used } = this.#of[kind]
    this.#of[kind] = { requests: requests + 1, bytes: more + bytes, units: used + units }
  }

  /** An item of so many bytes was read strongly. */
  read(bytes: number): void {
    this.add('item_read', bytes, Math.max(1, Math.ceil(bytes / READ_UNIT)))
  }

  /** An item of so many bytes was written. @param more units for rows of indexes */
  write(bytes: number, more = 0): void {
    this.add('item_write', bytes, writeUnits(bytes) + more)
  }

  /** A head of so many bytes was written. */
  head(bytes: number): void {
    const { written, bytes: more, largest } = this.#heads
    this.#heads = { written: written + 1, bytes: more + bytes, largest: Math.max(largest, bytes) }
  }

  readings(): Readings {
    return { ...this.#of, heads: this.#heads }
  }

  reset(): void {
    this.#of = blank()
    this.#heads = { written: 0, bytes: 0, largest: 0 }
  }
}

const blank = () =>
  Object.fromEntries(METERED.map((kind) => [kind, { requests: 0, bytes: 0, units: 0 }])) as Record<
    Metered,
    Reading
  >

/** Write units of an item of so many bytes. */
export const writeUnits = (bytes: number) => Math.max(1, Math.ceil(bytes / WRITE_UNIT))
