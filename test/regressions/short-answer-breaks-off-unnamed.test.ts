import { expect, it } from 'vitest'
import { checkpoint, makeRun, testApi } from '../functions/api/api-kit.ts'

// An archive of a few extents whose third was lost began as 200 and broke off: only the first piece was read before the
// status was sent, so the client saw its connection end and no word of which bytes are gone (P7).

const LINES = { accept: 'application/x-ndjson' }

/** @param lengths of the extents before the one that is lost */
async function damagedRun(...lengths: number[]) {
  const { root, ports } = await testApi()
  const { epoch, path, ...w } = await makeRun(root, 'r')
  let offset = w.tail
  const append = async (frame: Uint8Array) => {
    await root.append('r', offset, epoch, frame)
    offset += frame.length
  }
  for (const length of lengths) await append(checkpoint(8, ['x'.repeat(length)]))
  const third = checkpoint(9, ['lost'])
  const lost = { code: 'internal', offset, length: third.length }
  await append(third)
  await append(checkpoint(10))
  for await (const { key, length } of ports.objects.list('runs/')) {
    if (length === third.length) await ports.objects.remove([key])
  }
  return { root, path, lost }
}

it('a short answer names the bytes that are gone', async () => {
  const { root, path, lost } = await damagedRun(10)
  for (const answer of [
    await root.get(`${path}/archive`),
    await root.get(`${path}/records`, LINES),
    await root.get(`${path}/points`, LINES),
  ])
    expect([answer.status, answer.json]).toMatchObject([500, lost])
})

it('a long one breaks off, and never looks whole', async () => {
  const { root, path } = await damagedRun(1 << 20, 1 << 20, 1 << 20)
  await expect(root.get(`${path}/archive`)).rejects.toThrow()
  await expect(root.get(`${path}/records`, LINES)).rejects.toThrow()
})
