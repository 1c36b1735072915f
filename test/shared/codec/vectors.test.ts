import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  type ArchiveItem,
  canonicalEqual,
  hold,
  isJson,
  readArchive,
  readRecord,
  readStream,
  readStrict,
  recordView,
  type Scan,
  scanRecord,
  Unreadable,
} from '#codec'
import { journalRecord } from '#schema'

interface PayloadVector {
  readonly name: string
  readonly payload?: string
  readonly hex?: string
  readonly view?: string
  readonly unreadable?: string
}

interface ArchiveVector {
  readonly name: string
  readonly hex: string
  readonly items?: readonly string[]
  readonly refused?: string
}

const vectors = <T>(file: string): T[] =>
  readFileSync(new URL(`../../vectors/lvr1/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const fromHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Every way of reading a payload, each giving the reason when it cannot. */
function reasons(payload: Uint8Array): (string | undefined)[] {
  const attempt = (read: () => unknown) => {
    try {
      const result = read()
      return result instanceof Unreadable ? result.reason : undefined
    } catch (error) {
      if (error instanceof Unreadable) return error.reason
      throw error
    }
  }
  return [readRecord, recordView, scanRecord].map((read) => attempt(() => read(payload)))
}

describe('payload vectors', () => {
  it.each(vectors<PayloadVector>('payloads.jsonl').map((v) => [v.name, v] as const))('%s', (_, vector) => {
    const payload = vector.hex === undefined ? new TextEncoder().encode(vector.payload) : fromHex(vector.hex)
    expect(reasons(payload)).toEqual([vector.unreadable, vector.unreadable, vector.unreadable])
    expect(isJson(payload)).toBe(vector.unreadable !== 'not_json')
    if (vector.view === undefined) return
    const view = recordView(payload)
    expect(text(view.bytes)).toBe(vector.view)
    // A canonical text is its own view, and the values made of it are written the same again.
    expect(text(recordView(view.bytes).bytes)).toBe(vector.view)
    expect(recordView(view.bytes).bytes.buffer).toBe(view.bytes.buffer)
    expect(canonicalEqual(hold(journalRecord, view.read()).bytes, view.bytes)).toBe(true)
  })
})

const lineOf = (item: ArchiveItem<Scan>) => {
  if (item.type === 'torn') return `${item.offset}+${item.length} torn ${item.reason}`
  const place = `${item.frame.offset}+${item.frame.length}`
  return item.type === 'record' ? `${place} ${item.record.kind}` : `${place} unreadable ${item.reason}`
}

async function streamed(bytes: Uint8Array, chunkBytes: number): Promise<string[]> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) =>
    bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes),
  )
  const lines: string[] = []
  for await (const item of readStream(chunks, scanRecord)) lines.push(lineOf(item))
  return lines
}

describe('archive vectors', () => {
  it.each(vectors<ArchiveVector>('archives.jsonl').map((v) => [v.name, v] as const))(
    '%s',
    async (_, vector) => {
      const bytes = fromHex(vector.hex)
      const read = () => [...readArchive(bytes, scanRecord)]
      if (vector.items === undefined) {
        const refusal = { code: 'bad_frames', facts: { reason: vector.refused, offset: 0, frame: 0 } }
        expect(read).toThrow(expect.objectContaining({ code: refusal.code }))
        expect(read).toThrow(expect.objectContaining({ facts: expect.objectContaining(refusal.facts) }))
        await expect(streamed(bytes, 1)).rejects.toThrow(expect.objectContaining({ code: 'bad_frames' }))
        return
      }
      const items = read()
      expect(items.map(lineOf)).toEqual(vector.items)
      for (const chunkBytes of [1, 3, 64]) expect(await streamed(bytes, chunkBytes)).toEqual(vector.items)
      const strict = () => [...readStrict(bytes, scanRecord)]
      const problem = items.find((item) => item.type !== 'record')
      if (problem === undefined) expect(strict().length).toBe(items.length)
      else {
        const { offset, seq: frame } = problem.type === 'torn' ? problem : problem.frame
        const facts = { reason: problem.reason, offset, frame }
        expect(strict).toThrow(expect.objectContaining({ code: 'bad_frames', facts }))
      }
    },
  )
})
