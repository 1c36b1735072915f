import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createArchive, systemClock } from '#store'
import {
  type ChooseFault,
  FAULTS,
  type Fault,
  seededFaults,
  startFaultProxy,
} from '../../../kit/fault-proxy.ts'
import { putPart } from '../../../kit/put-part.ts'
import { portsOf, type StandIns, startStandIns } from '../../../kit/stand-ins.ts'
import { joined, LIMITS, StoredRun, say, sha256 } from '../../../kit/stored-run.ts'
import { uploadParts } from '../../../kit/upload-batch.ts'

const MIB = 1_048_576

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

let tests = 0
/** A run of its own on storage behind a proxy that faults as it is told. */
async function runBehind(choose: ChooseFault = () => undefined, now?: () => number) {
  const proxy = await startFaultProxy(standIns.s3, choose, now)
  const ports = portsOf({ ...standIns, s3: proxy.endpoint }, `uploads-${tests}/`)
  onTestFinished(async () => {
    ports.close()
    await proxy.stop()
  })
  const archive = createArchive(ports, { clock: systemClock, limits: LIMITS })
  const run = await StoredRun.begin(archive, `run-${tests++}`)
  await run.append(say('first'))
  return { run, ports, proxy }
}

function only(operation: string, fault: Fault, times = 1): ChooseFault {
  let left = times
  return (seen) => (seen.operation === operation && left-- > 0 ? fault : undefined)
}

const batch = () => say('x'.repeat(6 * MIB))
const open = (run: StoredRun, bytes: Uint8Array) =>
  run.archive.openUpload(run.key, {
    epoch: run.epoch,
    offset: run.tail,
    length: bytes.length,
    sha256: sha256(bytes),
  })

describe('presigned URLs of parts', () => {
  it('take the part they were signed for, and nothing else', async () => {
    const { run, ports } = await runBehind()
    const bytes = batch()
    const { parts } = await open(run, bytes)
    const [one, two] = parts
    const put = async (url = '', sent = bytes.subarray(5 * MIB)) => (await putPart(ports, url, sent)).status
    expect(await put(two?.url)).toBe(200)
    expect(await put(two?.url, bytes.subarray(5 * MIB + 1))).toBe(403)
    expect(await put(two?.url.replace('partNumber=2', 'partNumber=1'))).toBe(403)
    expect(await put(two?.url.replace('?', 'x?'))).toBe(403)
    expect(await put(two?.url.replace('X-Amz-Expires=900', 'X-Amz-Expires=999999'))).toBe(403)
    expect(await put(one?.url)).toBe(403)
  })

  it('live a quarter of an hour', async () => {
    let ahead = 0
    const { run, ports } = await runBehind(undefined, () => Date.now() + ahead)
    const bytes = batch()
    const { parts } = await open(run, bytes)
    const put = async () => (await putPart(ports, parts[1]?.url ?? '', bytes.subarray(5 * MIB))).status
    ahead = 14 * 60_000
    expect(await put()).toBe(200)
    ahead = 15 * 60_000
    expect(await put()).toBe(403)
  })

  it('name no checksum, which would be that of no bytes', async () => {
    const { run } = await runBehind()
    const { parts } = await open(run, batch())
    for (const { url } of parts) expect(url).not.toMatch(/checksum/i)
  })
})

describe('a completion', () => {
  it.each(['drop_answer', 'error_after', 'cut_answer', 'duplicate', 'conflict', 'drop_request'] as const)(
    'with %s is done once, and told',
    async (fault) => {
      const { run, proxy } = await runBehind(only('POST uploadId', fault))
      const bytes = batch()
      const { complete } = await uploadParts(run, bytes)
      expect(await complete()).toMatchObject({ replayed: false, tail: run.tail + bytes.length })
      expect(proxy.faults.get(fault)).toBe(1)
      expect(sha256(await run.stored())).toBe(sha256(joined(run.bytes, bytes)))
    },
  )

  it('finds the object of an earlier one whose commit never came', async () => {
    const { run, ports } = await runBehind()
    const bytes = batch()
    const { parts, complete } = await uploadParts(run, bytes)
    const [record] = await ports.uploadIndex.ofRun(run.key)
    if (!record) throw new Error('no upload is listed')
    const stored = parts.map(({ part_number, etag }, n) => ({
      part_number,
      etag,
      length: n === 0 ? 5 * MIB : bytes.length - 5 * MIB,
    }))
    await ports.uploads.complete(record, stored)
    expect(await complete()).toMatchObject({ replayed: false })
  })

  it('does not read, append or complete by listing', async () => {
    const { run, proxy } = await runBehind()
    await (await uploadParts(run, batch())).complete()
    expect(
      [...proxy.operations.keys()].filter((name) => /^GET .*(list-type|prefix|uploads)/.test(name)),
    ).toEqual([])
  })
})

it('uploads by insisting while one request in five fails are stored, each once', async () => {
  const { run, proxy } = await runBehind(seededFaults(7, 0.2, FAULTS))
  const insist = async <T>(act: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await act()
      } catch (error) {
        if (
          tries === 20 ||
          !/unavailable|slow_down|fetch/.test(`${(error as { code?: string }).code} ${error}`)
        )
          throw error
      }
    }
  }
  for (let n = 0; n < 6; n++) {
    const bytes = say(String(n).repeat(6 * MIB))
    const opened = await insist(() => open(run, bytes))
    const parts: { part_number: number; etag: string }[] = []
    for (const { part_number, url, start, end } of opened.parts) {
      const { etag } = await insist(async () => {
        const put = await putPart(run.archive.ports, url, bytes.subarray(start, end))
        if (put.status !== 200) throw new Error(`fetch answered ${put.status}`)
        return put
      })
      parts.push({ part_number, etag })
    }
    await insist(() => run.archive.completeUpload(run.key, opened.upload_id, { parts }))
    run.bytes = joined(run.bytes, bytes)
  }
  expect(sha256(await insist(() => run.stored()))).toBe(sha256(run.bytes))
  expect([...proxy.faults.values()].reduce((sum, times) => sum + times, 0)).toBeGreaterThan(3)
}, 60_000)
