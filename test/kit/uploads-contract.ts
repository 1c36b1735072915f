import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { StorePorts, UploadRecord } from '#store'
import { putPart } from './put-part.ts'

const MiB = 1024 * 1024

/** What ports.ts promises of direct uploads, held against one store. */
export function uploadsContract(ports: () => StorePorts): void {
  describe('direct uploads', () => {
    const uploads = () => ports().uploads
    const place = async (facts = {}) => {
      const key = `runs/${randomUUID()}/run/u`
      return { key, storage_id: await uploads().open(key, facts) }
    }
    type Place = Awaited<ReturnType<typeof place>>

    const put = async (at: Place, part_number: number, bytes: Uint8Array) => {
      const url = await uploads().partUrl(at, { part_number, length: bytes.length }, 60)
      return putPart(ports(), url, bytes)
    }
    const store = async (at: Place, ...parts: Uint8Array[]) =>
      Promise.all(
        parts.map(async (bytes, n) => {
          const { status, etag } = await put(at, n + 1, bytes)
          expect(status).toBe(200)
          expect(etag).toMatch(/^".+"$/)
          return { part_number: n + 1, etag, length: bytes.length }
        }),
      )
    const read = async (key: string) => {
      const bytes = await ports().objects.get(key)
      return bytes && Buffer.from(bytes)
    }

    it('show nothing before they are complete, then all parts in order and their facts', async () => {
      const at = await place({ epoch: '7' })
      const [one, two] = [randomBytes(5 * MiB), randomBytes(1000)]
      const parts = await store(at, one, two)
      expect(await read(at.key)).toBeUndefined()
      await uploads().complete(at, parts)
      expect((await read(at.key))?.equals(Buffer.concat([one, two]))).toBe(true)
      expect(await ports().objects.facts(at.key)).toEqual({ epoch: '7' })
    })

    it('are completed twice, or by two at once, as once', async () => {
      const at = await place()
      const parts = await store(at, randomBytes(100))
      await Promise.all([uploads().complete(at, parts), uploads().complete(at, parts)])
      await uploads().complete(at, parts)
      expect(await read(at.key)).toHaveLength(100)
    })

    it('take a part again, the same or another', async () => {
      const at = await place()
      const [wrong, right] = [randomBytes(10), randomBytes(10)]
      for (const bytes of [wrong, right, right]) await put(at, 1, bytes)
      const { etag } = await put(at, 1, right)
      await uploads().complete(at, [{ part_number: 1, etag, length: 10 }])
      expect((await read(at.key))?.equals(right)).toBe(true)
    })

    it('are not completed with an ETag that no part has', async () => {
      const at = await place()
      await store(at, randomBytes(10))
      for (const etag of ['"0123456789abcdef0123456789abcdef"', 'x', '"x-open"']) {
        const parts = [{ part_number: 1, etag, length: 10 }]
        await expect(uploads().complete(at, parts)).rejects.toMatchObject({ code: 'bad_request' })
      }
      expect(await read(at.key)).toBeUndefined()
    })

    it('are gone when aborted, and aborting again is no error', async () => {
      const at = await place()
      const parts = await store(at, randomBytes(10))
      await uploads().abort(at)
      await uploads().abort(at)
      await expect(uploads().complete(at, parts)).rejects.toMatchObject({ code: 'not_found' })
      expect((await put(at, 1, randomBytes(10))).status).toBe(404)
      expect(await read(at.key)).toBeUndefined()
    })

    it('stay when aborted after they were completed', async () => {
      const at = await place()
      await uploads().complete(at, await store(at, randomBytes(10)))
      await uploads().abort(at)
      expect(await read(at.key)).toHaveLength(10)
    })

    describe('are listed', () => {
      const index = () => ports().uploadIndex
      const record = (tenant: string, more: Partial<UploadRecord> = {}): UploadRecord => ({
        upload_id: randomUUID().replaceAll('-', ''),
        run: { tenant, run_id: 'run' },
        key: 'runs/k',
        storage_id: 's',
        life: 1,
        epoch: 3,
        offset: 2 ** 52,
        length: 12 * MiB,
        sha256: 'ab'.repeat(32),
        sweep: 0,
        part_bytes: 8 * MiB,
        opened_at: 1_790_000_000_000,
        expires_at: 1_790_000_900_000,
        ...more,
      })
      const byId = (records: readonly UploadRecord[]) =>
        records.toSorted((a, b) => (a.upload_id < b.upload_id ? -1 : 1))

      it('from their opening until they are forgotten, each under its own run', async () => {
        const [tenant, other] = [randomUUID(), randomUUID()]
        const [a, b, c] = [record(tenant), record(tenant), record(other)]
        for (const each of [a, b, c, a]) await index().put(each)
        expect(await index().get(a.run, a.upload_id)).toEqual(a)
        expect(await index().get(a.run, c.upload_id)).toBeUndefined()
        expect(byId(await index().ofRun(a.run))).toEqual(byId([a, b]))
        for (let i = 0; i < 2; i++) await index().remove(a.run, a.upload_id)
        await index().remove(a.run, c.upload_id)
        expect(await index().ofRun(a.run)).toEqual([b])
        expect(await index().ofRun(c.run)).toEqual([c])
      })

      it('as expired when their time is over, earliest first', async () => {
        const tenant = randomUUID()
        const times = [300, 100, 200, 900]
        const records = times.map((expires_at) => record(tenant, { expires_at }))
        for (const each of records) await index().put(each)
        const [third, first, second] = records
        const expired = async (now: number, limit = 99) =>
          (await index().expired(now, limit)).filter((open) => 'run' in open && open.run.tenant === tenant)
        expect(await expired(300)).toEqual([first, second, third])
        expect(await expired(99)).toEqual([])
        for (const each of records) await index().remove(each.run, each.upload_id)
        expect(await expired(900)).toEqual([])
      })

      it('with those of our own among them, which no run has', async () => {
        const tenant = randomUUID()
        const key = `runs/${tenant}/run/k`
        const upload = record(tenant, { expires_at: 2, key })
        const parts = { key, storage_id: randomUUID(), opened_at: 0, expires_at: 1 }
        const goingOn = { ...parts, expires_at: 3 }
        const expired = async (now: number) =>
          (await index().expired(now, 99)).filter((open) => open.key === key)
        await index().put(upload)
        await index().putParts(parts)
        expect(await expired(2)).toEqual([parts, upload])
        expect(await index().ofRun(upload.run)).toEqual([upload])
        expect(await index().get(upload.run, parts.storage_id)).toBeUndefined()
        await index().putParts(goingOn)
        expect(await expired(2)).toEqual([upload])
        expect(await expired(3)).toEqual([upload, goingOn])
        await index().remove(upload.run, upload.upload_id)
        for (let i = 0; i < 2; i++) await index().removeParts(parts)
        expect(await expired(3)).toEqual([])
      })

      it('without being mistaken for runs', async () => {
        const tenant = randomUUID()
        await index().put(record(tenant, { expires_at: 1 }))
        const due = await ports().index.due(Number.MAX_SAFE_INTEGER, 9999)
        expect(due.filter((run) => run.tenant === tenant)).toEqual([])
      })
    })
  })
}
