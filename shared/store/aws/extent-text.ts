import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { extentName } from '../keys.ts'
import type { Extent, Extents } from '../ports.ts'

// Extents are a map whose names are start offsets and whose values are short texts, some 32 bytes each:
//
//   "vls0": { S: "3cg.ASNFZ4mrze8.0.mfx0c1s0" }        numbers in base 36
//    start        length hash sweep at                  a hash of bytes as those bytes in base64url, others as they are

const BASE = 36
const HASH_OF_BYTES = /^[0-9a-f]{16}$/
const PACKED_LENGTH = 11

export const startOf = (name: string): string => Number(name).toString(BASE)

/** What names the object; the commit time after it is no part of an extent's identity. */
export const identityOf = ({ length, hash, sweep }: Extent): string =>
  `${length.toString(BASE)}.${packed(hash)}.${sweep.toString(BASE)}.`

export const extentText = (extent: Extent): string => identityOf(extent) + extent.at.toString(BASE)

/** The attribute with all extents of a head or a file. */
export const extentsAttribute = (extents: Extents): AttributeValue => ({
  M: Object.fromEntries(
    Object.entries(extents).map(([name, extent]) => [startOf(name), { S: extentText(extent) }]),
  ),
})

export function extentsOf(attribute: AttributeValue | undefined): Extents {
  const named = Object.entries(attribute?.M ?? {}).map(([start, { S = '' }]) => {
    const [length = '', hash = '', sweep = '', at = ''] = S.split('.')
    const extent: Extent = { length: int(length), hash: unpacked(hash), sweep: int(sweep), at: int(at) }
    return [extentName(int(start)), extent] as const
  })
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const int = (digits: string) => Number.parseInt(digits, BASE)

const packed = (hash: string) =>
  HASH_OF_BYTES.test(hash) ? Buffer.from(hash, 'hex').toString('base64url') : hash

const unpacked = (text: string) =>
  text.length === PACKED_LENGTH ? Buffer.from(text, 'base64url').toString('hex') : text
