import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type ChooseFault, type Fault, startFaultProxy } from '../../../kit/fault-proxy.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'

const MIB = 1_048_576
const NO_FACTS = {}

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

let tests = 0
/** Objects of this test alone, behind a proxy that faults as it is told. */
async function objectsBehind(choose: ChooseFault = () => undefined) {
  const proxy = await startFaultProxy(standIns.s3, choose)
  const prefix = `test-${tests++}/`
  const { objects, close } = portsOf({ ...standIns, s3: proxy.endpoint }, prefix)
  const honest = portsOf(standIns, prefix)
  onTestFinished(async () => {
    close()
    honest.close()
    await proxy.stop()
  })
  return { objects, honest: honest.objects, proxy }
}

/** Faults the requests of one operation, the first `times` of them. */
function only(operation: string, fault: Fault, times = 1): ChooseFault {
  let left = times
  return (seen) => (seen.operation === operation && left-- > 0 ? fault : undefined)
}

/** Bytes that repeat nowhere near, so that a misplaced part is seen. */
function pattern(length: number, seed = 1): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let n = 0, state = seed; n < words.length; n++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    words[n] = state
  }
  return new Uint8Array(words.buffer, 0, length)
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

const isEqual = (a: Uint8Array | undefined, b: Uint8Array) => a !== undefined && Buffer.compare(a, b) === 0

describe('objects in S3', () => {
  it('an empty range of an object is no bytes, of none undefined', async () => {
    const { objects } = await objectsBehind()
    await objects.put('a', [new Uint8Array(3)], NO_FACTS)
    expect(await objects.get('a', { start: 2, end: 2 })).toEqual(new Uint8Array())
    expect(await objects.get('b', { start: 0, end: 0 })).toBeUndefined()
  })

  it('an object that ends before the range does is an error that names both', async () => {
    const { objects } = await objectsBehind()
    await objects.put('short', [new Uint8Array(10)], NO_FACTS)
    await expect(objects.get('short', { start: 5, end: 20 })).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('bytes 5 to 20'),
    })
    await expect(objects.get('short', { start: 15, end: 20 })).rejects.toMatchObject({ code: 'internal' })
  })

  it('facts keep their names, cases and characters, through put and compose', async () => {
    const { objects } = await objectsBehind()
    const facts = { 'digest-before': 'ab', Epoch: '3', text: ' "é😀\n\u007f\\  ' }
    await objects.put('a', [new Uint8Array(6 * MIB)], facts)
    await objects.compose('b', [{ copy: 'a', range: { start: 0, end: 6 * MIB } }], facts)
    expect(await objects.facts('a')).toEqual(facts)
    expect(await objects.facts('b')).toEqual(facts)
    expect(await objects.facts('c')).toBeUndefined()
  })

  it('a large put goes in parts and loses nothing', async () => {
    const { objects, proxy } = await objectsBehind()
    const bytes = pattern(20 * MIB)
    await objects.put('large', [bytes.subarray(0, 7), bytes.subarray(7)], NO_FACTS)
    expect(isEqual(await objects.get('large'), bytes)).toBe(true)
    expect(proxy.operations.get('PUT partNumber uploadId')).toBe(2)
  })

  it('a composition of small and large sources is the bytes in order, the large ones copied by S3', async () => {
    const { objects, proxy } = await objectsBehind()
    const large = pattern(12 * MIB)
    const small = pattern(1000, 2)
    await objects.put('large', [large], NO_FACTS)
    await objects.put('small', [small], NO_FACTS)
    await objects.compose(
      'all',
      [
        { copy: 'small', range: { start: 0, end: 1000 } },
        { copy: 'large', range: { start: 0, end: large.length } },
        { bytes: small },
        { copy: 'large', range: { start: 6 * MIB, end: large.length } },
        { copy: 'small', range: { start: 10, end: 20 } },
      ],
      NO_FACTS,
    )
    const wanted = Buffer.concat([small, large, small, large.subarray(6 * MIB), small.subarray(10, 20)])
    expect(isEqual(await objects.get('all'), wanted)).toBe(true)
    expect(proxy.operations.get('GET')).toBeLessThanOrEqual(6)
  })

  it('small sources become one object by one request', async () => {
    const { objects, proxy } = await objectsBehind()
    await objects.put('a', [pattern(1000)], NO_FACTS)
    await objects.compose('b', Array(32).fill({ copy: 'a', range: { start: 0, end: 1000 } }), NO_FACTS)
    expect(proxy.operations.get('PUT')).toBe(2)
    expect(proxy.operations.has('POST uploads')).toBe(false)
    expect((await objects.get('b'))?.length).toBe(32_000)
  })

  it('a composition whose source is gone is not_found and leaves nothing', async () => {
    const { objects, proxy } = await objectsBehind()
    await objects.put('a', [pattern(6 * MIB)], NO_FACTS)
    const a = { copy: 'a', range: { start: 0, end: 6 * MIB } }
    for (const length of [6 * MIB, 10]) {
      const gone = { copy: 'gone', range: { start: 0, end: length } }
      await expect(objects.compose('b', [a, gone, a], NO_FACTS)).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await objects.get('b')).toBeUndefined()
    expect(proxy.operations.get('DELETE uploadId')).toBe(2)
  })

  it('lists in key order across pages, and removes any number of keys, present or not', async () => {
    const { objects } = await objectsBehind()
    const keys = Array.from({ length: 1100 }, (_, n) => `x/${String(n).padStart(4, '0')}`)
    for (const key of keys) await objects.put(key, [new Uint8Array([1])], NO_FACTS)
    await objects.put('y/1', [], NO_FACTS)
    const listed = await all(objects.list('x/'))
    expect(listed.map(({ key }) => key)).toEqual(keys)
    expect(listed[0]?.length).toBe(1)
    await objects.remove([...keys, 'x/absent'])
    expect(await all(objects.list(''))).toMatchObject([{ key: 'y/1', length: 0 }])
  })
})

describe('objects in S3 under faults', { timeout: 20_000 }, () => {
  const answerLost: Fault[] = ['drop_answer', 'cut_answer', 'error_after', 'duplicate']

  it.each(answerLost)('a completion that took effect is seen to have: %s', async (fault) => {
    const { objects, honest } = await objectsBehind(only('POST uploadId', fault))
    const bytes = pattern(12 * MIB)
    await objects.put('a', [bytes], NO_FACTS)
    expect(isEqual(await honest.get('a'), bytes)).toBe(true)
  })

  it('a completion whose answers are all lost is resolved by looking', async () => {
    const { objects, honest } = await objectsBehind(only('POST uploadId', 'drop_answer', 100))
    await objects.put('a', [pattern(12 * MIB)], NO_FACTS)
    expect((await honest.get('a'))?.length).toBe(12 * MIB)
  })

  it('a completion that never happens is unavailable, and the upload is aborted', async () => {
    const { objects, honest, proxy } = await objectsBehind(only('POST uploadId', 'error_before', 100))
    await expect(objects.put('a', [pattern(12 * MIB)], NO_FACTS)).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(await honest.get('a')).toBeUndefined()
    expect(proxy.operations.get('DELETE uploadId')).toBe(1)
  })

  it.each<Fault>([
    'drop_answer',
    'drop_request',
    'cut_request',
    'error_before',
    'error_after',
    'slow_down',
    'conflict',
  ])('a put is repeated until it is known to be stored: %s', async (fault) => {
    const { objects, honest } = await objectsBehind(only('PUT', fault))
    await objects.put('a', [pattern(5000)], NO_FACTS)
    expect(isEqual(await honest.get('a'), pattern(5000))).toBe(true)
  })

  it('a put that cannot be stored says so, with the SDK error as its cause', async () => {
    const { objects } = await objectsBehind(only('PUT', 'slow_down', 100))
    await expect(objects.put('a', [new Uint8Array(1)], NO_FACTS)).rejects.toMatchObject({
      code: 'slow_down',
      facts: { retry_after_s: 1 },
      cause: expect.objectContaining({ name: 'SlowDown' }),
    })
  })

  it('a body that breaks off is read again, never given short', async () => {
    const { objects, honest } = await objectsBehind(only('GET', 'cut_answer', 2))
    const bytes = pattern(3 * MIB)
    await honest.put('a', [bytes], NO_FACTS)
    expect(isEqual(await objects.get('a'), bytes)).toBe(true)
  })

  it('a body that always breaks off is unavailable', async () => {
    const { objects, honest } = await objectsBehind(only('GET', 'cut_answer', 100))
    await honest.put('a', [pattern(3 * MIB)], NO_FACTS)
    await expect(objects.get('a')).rejects.toMatchObject({ code: 'unavailable' })
  })
})
