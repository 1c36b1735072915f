import { describe, expect, it } from 'vitest'
import { putPart } from '../../../kit/put-part.ts'
import { uploadParts } from '../../../kit/upload-batch.ts'
import { big, MiB, started } from './kit.ts'

describe('the parts of an upload', () => {
  const odd: [string, (parts: { part_number: number; etag: string }[]) => object[]][] = [
    ['one missing', (parts) => parts.slice(1)],
    ['one too many', (parts) => [...parts, { part_number: 3, etag: '"x"' }]],
    ['another order', (parts) => parts.toReversed()],
    ['one twice', ([first]) => [first, first] as object[]],
    ['an ETag of another part', ([one, two]) => [{ ...one, etag: two?.etag }, two] as object[]],
  ]
  it.each(odd)('with %s are refused, and then still taken as they are', async (_, change) => {
    const { run, archive } = await started()
    const batch = big(6 * MiB)
    const { opened, parts, complete } = await uploadParts(run, batch)
    const odd = archive.completeUpload(run.key, opened.upload_id, { parts: change(parts) as typeof parts })
    await expect(odd).rejects.toMatchObject({ code: 'bad_request', facts: { issues: [{ path: 'parts' }] } })
    expect(await complete()).toMatchObject({ replayed: false })
  })

  it('are taken by their URL only while it lasts, only as long as announced, and only as it was signed', async () => {
    const { run, clock, ports } = await started()
    const batch = big(6 * MiB)
    const { opened } = await uploadParts(run, batch)
    const [one, two] = opened.parts
    const put = async (url = '', bytes = batch.subarray(5 * MiB)) => (await putPart(ports, url, bytes)).status
    expect(await put(two?.url)).toBe(200)
    expect(await put(two?.url, batch.subarray(5 * MiB + 1))).toBe(400)
    expect(await put(two?.url.replace('/2?', '/1?'))).toBe(403)
    expect(await put(two?.url.replace(/length=\d+/, 'length=5'), new Uint8Array(5))).toBe(403)
    expect(await put(two?.url.replace(/expires=\d/, 'expires=9'))).toBe(403)
    expect(await put(two?.url.replace(/signature=./, 'signature=0').replace(/.$/, '1'))).toBe(403)
    expect(await put(`${one?.url.split('?')[0]}?${two?.url.split('?')[1]}`)).toBe(403)
    clock.advance(15 * 60_000)
    expect(await put(two?.url)).toBe(403)
    expect(Date.parse(opened.expires_at)).toBe(clock.now())
  })
})
