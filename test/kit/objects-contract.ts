import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { RunKey } from '#schema'
import type { ByteRange, StorePorts } from '#store'
import { namesOfATest } from './contract-samples.ts'

const MiB = 1024 * 1024
const bytesOf = (text: string) => new TextEncoder().encode(text)
const prefix = (key: RunKey) => `runs/${key.tenant}/${key.run_id}/`

/** What ports.ts promises of objects, held against one store. */
export function objectsContract(ports: () => StorePorts): void {
  const { fresh, run, tenant } = namesOfATest()

  describe('objects', () => {
    const objects = () => ports().objects
    /** Without its class: a Buffer is as good. */
    const read = async (key: string, range?: ByteRange) => {
      const bytes = await objects().get(key, range)
      return bytes && new Uint8Array(bytes)
    }
    const listed = async (start: string) => {
      const keys: string[] = []
      for await (const { key } of objects().list(start)) keys.push(key)
      return keys
    }

    it('gives back the bytes of all chunks, and any range of them', async () => {
      const key = `${prefix(fresh())}a`
      await objects().put(key, [bytesOf('abc'), bytesOf(''), bytesOf('defgh')], {})
      expect(await read(key)).toEqual(bytesOf('abcdefgh'))
      expect(await read(key, { start: 0, end: 8 })).toEqual(bytesOf('abcdefgh'))
      expect(await read(key, { start: 2, end: 5 })).toEqual(bytesOf('cde'))
      expect(await read(key, { start: 7, end: 8 })).toEqual(bytesOf('h'))
    })

    it('never gives fewer bytes than asked for', async () => {
      const key = `${prefix(fresh())}a`
      await objects().put(key, [bytesOf('abc')], {})
      await expect(objects().get(key, { start: 0, end: 4 })).rejects.toThrow()
      await expect(objects().get(key, { start: 5, end: 6 })).rejects.toThrow()
    })

    it('says undefined of what is absent', async () => {
      const key = `${prefix(fresh())}absent`
      expect(await read(key)).toBeUndefined()
      expect(await read(key, { start: 0, end: 1 })).toBeUndefined()
      expect(await objects().facts(key)).toBeUndefined()
      await objects().remove([key])
      expect(await listed(prefix(run('run')))).toEqual([])
    })

    it('does not mind the same put again', async () => {
      const key = `${prefix(fresh())}a`
      for (let i = 0; i < 2; i++) await objects().put(key, [bytesOf('same')], { epoch: '1' })
      expect(await read(key)).toEqual(bytesOf('same'))
      expect(await listed(prefix(run('run')))).toEqual([key])
    })

    it('tags bytes with what changes when the object is replaced', async () => {
      const key = `${prefix(fresh())}a`
      expect(await objects().tagged(key, { start: 0, end: 9 })).toBeUndefined()
      expect(await objects().tagged(key, { start: 0, end: 0 })).toBeUndefined()
      await objects().put(key, [bytesOf('abcdef')], {})
      const whole = await objects().tagged(key, { start: 0, end: 100 })
      expect(whole && new Uint8Array(whole.bytes)).toEqual(bytesOf('abcdef'))
      const ranges = [
        [2, 4, 'cd'],
        [4, 9, 'ef'],
        [6, 9, ''],
        [0, 0, ''],
      ] as const
      for (const [start, end, text] of ranges) {
        const part = await objects().tagged(key, { start, end })
        expect(part && new Uint8Array(part.bytes)).toEqual(bytesOf(text))
        expect(part).toMatchObject({ etag: whole?.etag, length: 6 })
      }
      await objects().put(key, [bytesOf('abcdeF')], {})
      expect((await objects().tagged(key, { start: 0, end: 0 }))?.etag).not.toBe(whole?.etag)
    })

    it('keeps the facts beside the object', async () => {
      const key = `${prefix(fresh())}a`
      const facts = { epoch: '12', 'digest-before': 'ab'.repeat(32) }
      await objects().put(key, [bytesOf('x')], facts)
      expect(await objects().facts(key)).toEqual(facts)
      await objects().compose(`${key}2`, [{ bytes: bytesOf('y') }], { offset: '0' })
      expect(await objects().facts(`${key}2`)).toEqual({ offset: '0' })
    })

    it('composes small copies and bytes in order', async () => {
      const base = prefix(fresh())
      await objects().put(`${base}a`, [bytesOf('0123456789')], {})
      await objects().put(`${base}b`, [bytesOf('abcdef')], {})
      const parts = [
        { copy: `${base}b`, range: { start: 2, end: 6 } },
        { bytes: bytesOf('-') },
        { copy: `${base}a`, range: { start: 0, end: 10 } },
        { copy: `${base}a`, range: { start: 9, end: 10 } },
      ]
      for (let i = 0; i < 2; i++) await objects().compose(`${base}c`, parts, {})
      expect(await read(`${base}c`)).toEqual(bytesOf('cdef-01234567899'))
    })

    it('composes parts of many megabytes between small ones', async () => {
      const base = prefix(fresh())
      const [one, two] = [randomBytes(6 * MiB), randomBytes(5 * MiB + 1)]
      await objects().put(`${base}one`, [one], {})
      const small = bytesOf('small')
      await objects().compose(
        `${base}all`,
        [
          { bytes: small },
          { copy: `${base}one`, range: { start: 0, end: one.length } },
          { bytes: small },
          { bytes: two },
          { copy: `${base}one`, range: { start: 1, end: one.length - 1 } },
          { bytes: small },
        ],
        {},
      )
      const want = Buffer.concat([small, one, small, two, one.subarray(1, -1), small])
      const got = await read(`${base}all`)
      expect(got && Buffer.compare(got, want)).toBe(0)
    })

    it('refuses to compose from what is gone, and leaves nothing behind', async () => {
      const base = prefix(fresh())
      const parts = [{ bytes: bytesOf('x') }, { copy: `${base}gone`, range: { start: 0, end: 1 } }]
      await expect(objects().compose(`${base}c`, parts, {})).rejects.toMatchObject({ code: 'not_found' })
      expect(await read(`${base}c`)).toBeUndefined()
    })

    it('lists what begins so, in key order, with lengths and times', async () => {
      const key = fresh()
      const before = Date.now()
      for (const name of ['b', 'c', 'a'])
        await objects().put(prefix(key) + name, [bytesOf(name.repeat(3))], {})
      for (const run_id of ['run2', 'Run', 'ru'])
        await objects().put(`${prefix(run(run_id))}z`, [bytesOf('z')], {})
      const found = []
      for await (const object of objects().list(prefix(key))) found.push(object)
      expect(found.map(({ key }) => key)).toEqual(['a', 'b', 'c'].map((name) => prefix(key) + name))
      for (const { length, stored_at } of found) {
        expect(length).toBe(3)
        expect(Math.abs(stored_at - before)).toBeLessThan(60_000)
      }
      expect(await listed(`${prefix(key)}b`)).toEqual([`${prefix(key)}b`])
    })

    it('tells keys apart that differ in upper and lower case alone', async () => {
      fresh()
      const ids = ['case', 'CASE', 'Case', 'casE', `${'X'.repeat(128)}`, `${'x'.repeat(128)}`, 'dot.', 'dot']
      for (const id of ids) await objects().put(`${prefix(run(id))}o`, [bytesOf(id)], {})
      for (const id of ids) expect(await read(`${prefix(run(id))}o`)).toEqual(bytesOf(id))
      const keys = (await listed(`runs/${tenant()}/`)).toSorted()
      expect(keys).toEqual(ids.map((id) => `${prefix(run(id))}o`).toSorted())
    })

    it('removes what is named and nothing else', async () => {
      const base = prefix(fresh())
      for (const name of ['a', 'b', 'c']) await objects().put(base + name, [bytesOf(name)], {})
      await objects().remove([`${base}a`, `${base}c`, `${base}never`])
      expect(await listed(base)).toEqual([`${base}b`])
      expect(await objects().facts(`${base}a`)).toBeUndefined()
    })
  })
}
