import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeArchive, readArchive, readStream } from '#codec'
import { demoRecords } from '../../../functions/cli/demo-run.ts'
import { assertProperty } from '../../kit/arbitraries.ts'

const MiB = 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const sound = encodeArchive(demoRecords({ seed: 61, records: 300 }))

/** A place anywhere behind the preamble, and often in a length prefix, whose fifth byte counts by 16 MiB. */
const place = fc.oneof(
  fc.integer({ min: 6, max: sound.length - 1 }),
  fc
    .tuple(
      fc.constantFrom(
        ...[...readArchive(sound)].flatMap((item) => ('frame' in item ? [item.frame.offset] : [])),
      ),
      fc.oneof(fc.nat(7), fc.constant(4)),
    )
    .map(([offset, byte]) => offset + byte),
)

/** Up to 16 a length made of it is within the limit of a frame. */
const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 16 }))

function corrupted(at: number, value: number): Uint8Array {
  const bytes = sound.slice()
  bytes[at] = value
  return bytes
}

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

const held = () => process.memoryUsage().arrayBuffers
const limit = sound.length + 16 * MiB

it('a corrupted byte never makes the reader take more memory than the input and 16 MiB', () => {
  assertProperty(
    fc.property(place, byte, (at, value) => {
      const bytes = corrupted(at, value)
      const before = held()
      for (const _ of readArchive(bytes)) expect(held() - before).toBeLessThan(limit)
    }),
  )
})

it('nor a reader of chunks', async () => {
  await fc.assert(
    fc.asyncProperty(place, byte, async (at, value) => {
      const bytes = corrupted(at, value)
      const before = held()
      for await (const _ of readStream(cut(bytes))) expect(held() - before).toBeLessThan(limit)
    }),
  )
})
