import type { Cursor } from '../json/cursor.ts'
import { Sink } from '../json/sink.ts'
import { Raw } from '../raw.ts'

/** How one kind of value is read from and written to LVR1's JSON; compiled from the zod schemas (compile.ts). */
export interface Shape<T = unknown> {
  /**
   * Reads the value at the cursor. In hold mode it checks exactly as much, but need not make the value.
   *
   * @throws Mismatch
   */
  read(c: Cursor): T | undefined
  /**
   * Goes over the value at the cursor if it stands there just as `write` writes it for a view, but for members that have
   * a default and are not there (`c.gaps`), and says whether it does. It only has to be fast: after false the cursor is
   * anywhere, nothing is known, and `read` must be asked.
   */
  skip(c: Cursor): boolean
  write(value: T, out: ShapeSink): void
  /** What holds an object or array of trusted bytes without looking at it. */
  later?(source: Uint8Array, start: number, end: number): T
}

/**
 * Where shapes write. A *view* keeps every number's spelling and holds null for the secret; an *archive* is written as the
 * reference writer would, the secret included.
 */
export class ShapeSink extends Sink {
  readonly archive: boolean

  constructor(archive: boolean) {
    super()
    this.archive = archive
  }
}

/** A value in whole or in part already written. */
export function writeValue(shape: Shape, value: unknown, out: ShapeSink): void {
  if (value instanceof Raw) out.bytes(value.bytes)
  else shape.write(value, out)
}
