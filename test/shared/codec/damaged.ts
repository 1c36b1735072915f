import * as fc from 'fast-check'
import { encodeRecord } from '#codec'
import { anyRecord } from '../../kit/arbitraries.ts'

/** Bytes that JSON is made of; one in the place of another is likelier to be readable still than just any byte. */
const MARKS = new TextEncoder().encode('"\\{}[],:0un/ ')

/** Payloads of records of which one to three bytes were changed. */
export const damagedPayload: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    anyRecord,
    fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(...MARKS))), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([record, changes]) => {
    const payload = encodeRecord(record)
    for (const [place, byte] of changes) payload[place % payload.length] = byte
    return payload
  })
