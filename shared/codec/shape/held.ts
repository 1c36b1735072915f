import { Cursor, type Gap, HOLD, REWRITE } from '../json/cursor.ts'
import { LaterRaw, Raw } from '../raw.ts'
import { type Shape, ShapeSink, writeValue } from './shape.ts'

/** Reads a value as its canonical bytes: a slice of what was read where that is canonical, else written again. */
export function held<T>(inner: Shape<T>): Shape<Raw<T>> {
  const decode = decoderOf(inner)
  const later = (source: Uint8Array, start: number, end: number) => new LaterRaw(source, settle, start, end)
  const shape: Shape<Raw<T>> = {
    later,
    read(c) {
      const { at: start, depth, mode, canonical } = c
      if (mode === HOLD) return void inner.read(c)
      if (c.carried !== 'now' && c.peek() === 0x7b && c.leap()) return later(c.bytes, start, c.at)
      c.gaps = []
      const isCanonical = inner.skip(c)
      const { gaps } = c
      c.gaps = undefined
      if (isCanonical) {
        if (gaps.length === 0) return new Raw(c.bytes, decode, start, c.at)
        return new Raw(filled(c.bytes, start, c.at, gaps), decode)
      }
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
    write: (value, out) => writeValue(inner, value, out),
  }
  const settle = (bytes: Uint8Array) => readTrustedValue(shape, bytes)
  return shape
}

/** @throws Mismatch where bytes that were found readable before are no more */
function readTrustedValue<T>(shape: Shape<T>, bytes: Uint8Array): T {
  const c = new Cursor(bytes)
  c.trusted = true
  return shape.read(c) as T
}

/** Holds a value made here, of which parts may be held already. */
export function holdValue<T>(shape: Shape<T>, value: unknown): Raw<T> {
  return new Raw(write(shape, value, false), decoderOf(shape))
}

/** The bytes of a value in this shape, as a view or as an archive has them (ShapeSink). */
export function write(shape: Shape, value: unknown, archive: boolean): Uint8Array {
  const out = new ShapeSink(archive)
  writeValue(shape, value, out)
  return out.take()
}

/** The bytes from `start` to `end` with the gaps, which are in order, filled. */
function filled(bytes: Uint8Array, start: number, end: number, gaps: readonly Gap[]): Uint8Array {
  const whole = new Uint8Array(gaps.reduce((sum, gap) => sum + gap.bytes.length, end - start))
  let written = 0
  let from = start
  for (const { at, bytes: missing } of gaps) {
    whole.set(bytes.subarray(from, at), written)
    whole.set(missing, written + at - from)
    written += at - from + missing.length
    from = at
  }
  whole.set(bytes.subarray(from, end), written)
  return whole
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
