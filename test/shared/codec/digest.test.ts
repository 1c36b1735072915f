import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { digestOf, EMPTY_DIGEST, extendDigest, loadDigest } from '#codec'
import { assertProperty } from '../../kit/arbitraries.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('the digest', () => {
  beforeAll(loadDigest)

  it('is what sha256sum prints', () => {
    assertProperty(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
        expect(digestOf(...chunks)).toBe(sha256(Buffer.concat(chunks)))
      }),
    )
    expect(digestOf()).toBe(EMPTY_DIGEST)
    expect(extendDigest(null, [])?.digest).toBe(EMPTY_DIGEST)
  })

  it('goes on from a saved state as if it had never stopped', () => {
    assertProperty(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1 }), (chunks) => {
        let state: string | null = null
        let digest = EMPTY_DIGEST
        for (const chunk of chunks) {
          const extended = extendDigest(state, [chunk])
          if (extended === undefined) throw new Error('a state of our own was not taken')
          ;({ state, digest } = extended)
          // Another hash in between does not disturb it.
          digestOf(chunk)
        }
        expect(digest).toBe(sha256(Buffer.concat(chunks)))
      }),
    )
  })

  it('keeps nothing of what was hashed before, perhaps for someone else', () => {
    const state = () => extendDigest(null, [new Uint8Array(70).fill(1)])?.state
    digestOf(new Uint8Array(1000).fill(7))
    const after = state()
    digestOf(new Uint8Array(1000).fill(8))
    expect(state()).toBe(after)
  })

  it('is saved in no more than it needs', () => {
    const bytesOf = (length: number) =>
      atob(extendDigest(null, [new Uint8Array(length)])?.state.slice(2) ?? '').length
    expect([0, 1, 63, 64, 640].map(bytesOf)).toEqual([52, 53, 115, 52, 52])
  })

  it('asks for the bytes again where a state is of another version or damaged', () => {
    for (const state of ['', '0:', '3:AAAA', '2:', '2:AAAA', '2:not base64!', `2:${btoa('x'.repeat(100))}`]) {
      expect(extendDigest(state, [])).toBeUndefined()
    }
  })
})
