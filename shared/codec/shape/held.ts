import { Cursor, HOLD, REWRITE } from '../json/cursor.ts'
import { Raw } from '../raw.ts'
import { type Shape, ShapeSink, writeValue } from './shape.ts'

/** Reads a value as its canonical bytes: a slice of what was read where that is canonical, else written again. */
export function held<T>(inner: Shape<T>): Shape<Raw<T>> {
  const decode = decoderOf(inner)
  return {
    read(c) {
      const { at: start, depth, mode, canonical } = c
      if (mode === HOLD) return void inner.read(c)
      if (inner.skip(c)) return new Raw(c.bytes, decode, start, c.at)
      c.at = start
      c.depth = depth
      c.mode = HOLD
      c.canonical = true
      inner.read(c)
      const slice = c.bytes.subarray(start, c.at)
      const asIs = c.canonical
      c.mode = mode
      c.canonical = canonical && asIs
      return new Raw(asIs ? slice : rewrite(inner, slice), decode)
    },
    skip: (c) => inner.skip(c),
    write: (value, out) => out.bytes(value.bytes),
  }
}

/** Holds a value made here, of which parts may be held already. */
export function holdValue<T>(shape: Shape<T>, value: unknown): Raw<T> {
  return new Raw(write(shape, value, false), decoderOf(shape))
}

export function write(shape: Shape, value: unknown, archive: boolean): Uint8Array {
  const out = new ShapeSink(archive)
  writeValue(shape, value, out)
  return out.take()
}

function rewrite<T>(shape: Shape<T>, bytes: Uint8Array): Uint8Array {
  return write(shape as Shape, shape.read(new Cursor(bytes, REWRITE)), false)
}

const decoders = new WeakMap<object, (bytes: Uint8Array) => unknown>()

function decoderOf<T>(shape: Shape<T>): (bytes: Uint8Array) => T {
  let decode = decoders.get(shape)
  if (decode === undefined) {
    decode = (bytes) => shape.read(new Cursor(bytes))
    decoders.set(shape, decode)
  }
  return decode as (bytes: Uint8Array) => T
}
