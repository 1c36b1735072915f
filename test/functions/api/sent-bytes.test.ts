import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, it } from 'vitest'
import { countSent } from '../../../functions/api/sent-bytes.ts'
import { bodyOf } from '../../../functions/api/stream.ts'

const PIECE = 256 << 10
const PIECES = 40
const pieceOf = (n: number) => new Uint8Array(PIECE).fill(1 + (n % 250))
const isGivenBack = (piece: Uint8Array) => piece.length === 0

describe('pieces of a body', () => {
  it('are given back when they have left, the longest head before them, and never before', async () => {
    const pieces = Array.from({ length: 4 }, (_, n) => pieceOf(n))
    let sent = 0
    const reader = bodyOf([], pieces.values(), { sent: () => sent }).getReader()
    await reader.read()
    sent = PIECE + (64 << 10) - 1
    await reader.read()
    expect(pieces.map(isGivenBack)).toEqual([false, false, false, false])
    sent = PIECE + (64 << 10)
    await reader.read()
    expect(pieces.map(isGivenBack)).toEqual([true, false, false, false])
    sent = 0
    await reader.read()
    expect(pieces.map(isGivenBack)).toEqual([true, false, false, false])
  })

  it('are left alone where it cannot be known, or where they are a part of something larger', async () => {
    const whole = new Uint8Array(4 * PIECE)
    const parts = Array.from({ length: 4 }, (_, n) => whole.subarray(n * PIECE, (n + 1) * PIECE))
    for await (const _ of bodyOf([], parts.values(), { sent: () => Number.POSITIVE_INFINITY }));
    for await (const _ of bodyOf([], parts.values()));
    expect(whole.length).toBe(4 * PIECE)
  })
})

describe('answers over a connection', () => {
  it('come whole, however slowly they are read and however many are asked for at once, and leave nothing behind', async () => {
    const given: Uint8Array[] = []
    function* source() {
      for (let n = 0; n < PIECES; n++) {
        const piece = pieceOf(n)
        given.push(piece)
        yield piece
      }
    }
    const listener = getRequestListener(async (_request, { outgoing }) => {
      const headers = { 'content-length': String(PIECE * PIECES) }
      return new Response(bodyOf([], source(), { sent: countSent(outgoing) }), { headers })
    })
    const server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const ASKED = 3
    try {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(ASKED))
      let text = Buffer.alloc(0)
      let bodies = 0
      const wanted = createHash('sha256')
      for (let n = 0; n < PIECES; n++) wanted.update(pieceOf(n))
      const digest = wanted.digest('hex')
      let reads = 0
      for await (const chunk of socket) {
        if (reads++ % 50 === 0) await sleep(5)
        text = Buffer.concat([text, chunk])
        const start = text.indexOf('\r\n\r\n') + 4
        if (text.length < start + PIECE * PIECES) continue
        const body = text.subarray(start, start + PIECE * PIECES)
        expect(createHash('sha256').update(body).digest('hex')).toBe(digest)
        text = text.subarray(start + PIECE * PIECES)
        if (++bodies === ASKED) break
      }
      expect(bodies).toBe(ASKED)
      expect(given).toHaveLength(ASKED * PIECES)
      expect(given.slice(0, PIECES).filter(isGivenBack).length).toBeGreaterThan(PIECES / 2)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
