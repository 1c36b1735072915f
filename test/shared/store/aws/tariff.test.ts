import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { awsTariff } from '#store/aws'
import { itemBytes } from '../../../../shared/store/aws/tariff.ts'
import type { ComposePart } from '../../../../shared/store/ports.ts'
import { startFaultProxy } from '../../../kit/fault-proxy.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'

const MIB = 1_048_576

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

const copy = (key: string, mib: number): ComposePart => ({ copy: key, range: { start: 0, end: mib * MIB } })
const bytes = (mib: number): ComposePart => ({ bytes: new Uint8Array(mib * MIB) })

describe('the tariff', () => {
  it.each<[string, ComposePart[]]>([
    ['one put', [bytes(1), copy('a', 1), copy('b', 1)]],
    ['parts that are uploaded', [bytes(3), bytes(3), bytes(3)]],
    ['parts that are copied', [copy('large', 6), copy('large', 6)]],
    ['both', [copy('large', 6), copy('a', 1), copy('large', 6), bytes(1)]],
    ['nothing', []],
  ])('counts what is sent for an object of %s', async (_name, parts) => {
    const sent: string[] = []
    const proxy = await startFaultProxy(standIns.s3, ({ operation }) => {
      sent.push(operation)
      return undefined
    })
    const plain = portsOf(standIns, 'tariff/')
    for (const key of ['a', 'b']) await plain.objects.put(key, [new Uint8Array(MIB)], {})
    await plain.objects.put('large', [new Uint8Array(6 * MIB)], {})
    const table = await startFaultProxy(standIns.dynamodb, ({ operation }) => {
      sent.push(operation)
      return undefined
    })
    const { objects, close } = portsOf({ s3: proxy.endpoint, dynamodb: table.endpoint }, 'tariff/')
    await objects.compose('composed', parts, {})
    const counted = awsTariff.storing(parts).map(({ kind }) => METHODS[kind])
    expect(counted.sort()).toEqual(
      sent.map((operation) => /^[A-Z]+(?= |$)|Item$/.exec(operation)?.[0]).sort(),
    )
    plain.close()
    close()
    await proxy.stop()
    await table.stop()
  })

  it('takes an item to be as large as its names and values', () => {
    expect(itemBytes({ name: { S: 'é' } })).toBe(4 + 2)
    expect(itemBytes({ n: { N: '1200' } })).toBe(1 + 2)
    expect(itemBytes({ n: { N: '-123' } })).toBe(1 + 4)
    expect(itemBytes({ b: { B: new Uint8Array(7) }, f: { BOOL: true }, z: { NULL: true } })).toBe(
      3 + 7 + 1 + 1,
    )
    expect(itemBytes({ l: { L: [{ S: 'a' }, { S: 'b' }] } })).toBe(1 + 3 + 2 * (1 + 1))
    expect(itemBytes({ m: { M: { a: { S: 'b' } } } })).toBe(1 + 3 + 1 + 1 + 1)
  })
})

/** A copied part is a PUT with another header. */
const METHODS: Readonly<Record<string, string>> = {
  put: 'PUT',
  copy: 'PUT',
  post: 'POST',
  get: 'GET',
  item_write: 'Item',
}
