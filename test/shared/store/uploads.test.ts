import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { createArchive, createMaintainer, type Head, type StorePorts } from '#store'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../../kit/manual-clock.ts'
import { plainHeader } from '../../kit/plain-header.ts'
import { putPart } from '../../kit/put-part.ts'
import { frameOf, joined, LIMITS, StoredRun, say, sha256, testArchive } from '../../kit/stored-run.ts'
import { uploadParts } from '../../kit/upload-batch.ts'

const MiB = 1024 * 1024
const HOUR = 3_600_000
const DAY = 24 * HOUR

const started = async () => {
  const kit = testArchive()
  const run = await StoredRun.begin(kit.archive)
  await run.append(say('first'))
  return { ...kit, run }
}
/** Without what is derived. */
const archiveKeys = async (ports: StorePorts) =>
  (await everyKey(ports, 'runs/')).filter((key) => /\/\d+-\d+-\d+-\w+$/.test(key))

/** Comparing megabytes element by element takes seconds. */
const digestOf = async (run: StoredRun) => sha256(await run.stored())
const big = (bytes: number) => say('x'.repeat(bytes))
const header = frameOf(JSON.stringify(plainHeader()))
const status = (word: string) => frameOf(`{"StatusChanged":{"status":"${word}","at":2}}`)
const point = frameOf(
  '{"ContextDiff":{"delta":{"stage_name":"s","total_tokens":1,"max_tokens":2,"regions":[]},"at":1}}',
)
const everyKey = async ({ objects }: StorePorts, prefix: string) => {
  const keys: string[] = []
  for await (const { key } of objects.list(prefix)) keys.push(key)
  return keys
}

describe('a direct upload', () => {
  it('is answered like an append of the same bytes, and leaves the same run', async () => {
    const frames = [
      header,
      point,
      big(9 * MiB),
      frameOf('no json'),
      status('running'),
      big(10),
      status('error'),
    ]
    const [direct, plain] = [testArchive(), testArchive()]
    const run = await StoredRun.begin(direct.archive)
    const other = await StoredRun.begin(plain.archive)
    const bytes = joined(PREAMBLE, ...frames)
    const upload = await uploadParts(run, bytes)
    expect(upload.opened).toMatchObject({ part_bytes: 5 * MiB, parts: [{ start: 0 }, { end: bytes.length }] })
    expect(await upload.complete()).toEqual(await other.append(...frames))
    expect(await digestOf(run)).toBe(sha256(bytes))
    const heads = [direct, plain].map(async ({ ports }) => {
      // Where the saved state holds no bytes it holds whatever was there before.
      const { extents, hash_state: _, ...head } = (await ports.index.head(run.key)) as Head
      return { ...head, lengths: Object.entries(extents).map(([at, { length }]) => [at, length]) }
    })
    const [head, same] = await Promise.all(heads)
    expect(head).toEqual(same)
    expect(await direct.ports.index.card(run.key)).toEqual(await plain.ports.index.card(run.key))
  })

  it('shows nothing before it is complete', async () => {
    const { run } = await started()
    const upload = await uploadParts(run, big(100))
    expect(await digestOf(run)).toBe(sha256(run.bytes))
    await upload.complete()
    expect((await run.stored()).length).toBe(run.tail + big(100).length)
  })

  it('is followed by appends, and merged with them', async () => {
    const { run, ports, clock, archive } = await started()
    const batch = big(7 * MiB)
    await (await uploadParts(run, batch)).complete()
    run.bytes = joined(run.bytes, batch)
    await run.append(say('next'))
    await archive.release(run.key, run.epoch)
    await createMaintainer(ports, clock).pass()
    expect(Object.keys((await ports.index.head(run.key))?.extents ?? {})).toHaveLength(1)
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('gives the same ack again whatever has happened to the archive since', async () => {
    const { run, ports, clock, archive } = await started()
    const batch = big(100)
    const upload = await uploadParts(run, batch)
    const first = await upload.complete()
    run.bytes = joined(run.bytes, batch)
    await run.append(say('next'))
    clock.advance(2 * HOUR)
    await createMaintainer(ports, clock).pass()
    clock.advance(2 * HOUR)
    await createMaintainer(ports, clock).pass()
    const { offset, tail, frames, points, digest } = first
    expect(await upload.complete()).toMatchObject({ offset, tail, frames, points, digest, replayed: true })
    expect(await archive.view(run.key).then(({ head }) => head.tail)).toBe(run.tail)
  })

  it('is stored once when completed by many at once', async () => {
    const { run } = await started()
    const batch = big(100)
    const upload = await uploadParts(run, batch)
    const acks = await Promise.all(Array.from({ length: 8 }, upload.complete))
    expect(acks.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await digestOf(run)).toBe(sha256(joined(run.bytes, batch)))
  })

  it('of bytes that are stored is a replay, and of a part of them an overlap', async () => {
    const { run } = await started()
    const at = run.tail
    const [one, two] = [say('one'), say('two')]
    const whole = await uploadParts(run, joined(one, two))
    await run.append(one)
    await expect(whole.complete()).rejects.toMatchObject({ code: 'overlap', facts: { tail: run.tail } })
    await run.append(two)
    expect(await whole.complete()).toMatchObject({ replayed: true, tail: run.tail, frames: 3 })
    const again = await uploadParts(run, one, { offset: at })
    expect(await again.complete()).toMatchObject({ replayed: true, tail: at + one.length, frames: 2 })
  })

  it('conflicts where other bytes are stored', async () => {
    const { run } = await started()
    const other = await uploadParts(run, say('other'))
    const longer = await uploadParts(run, joined(say('mine'), say('more')))
    await run.append(say('mine'))
    await run.append(say('else'))
    for (const { complete } of [other, longer]) {
      await expect(complete()).rejects.toMatchObject({ code: 'offset_conflict', facts: { tail: run.tail } })
    }
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('conflicts where the archive ends within one of its frames', async () => {
    const { run } = await started()
    // A payload that looks like the beginning of a frame, and an upload that begins there.
    const whole = say('x'.repeat(100))
    const offset = run.tail + 8
    await run.append(frameOf(whole.subarray(0, 60)))
    const upload = await uploadParts(run, whole, { offset })
    await expect(upload.complete()).rejects.toMatchObject({ code: 'offset_conflict' })
  })

  const bad: [string, Uint8Array, object][] = [
    ['a torn frame', big(5 * MiB).subarray(0, -1), { reason: 'torn_frame', frame: 0 }],
    [
      'a torn frame behind others',
      joined(say('a'), say('b'), say('c').subarray(0, 9)),
      { reason: 'torn_frame', frame: 2 },
    ],
    ['a torn length', joined(say('a'), new Uint8Array(3)), { reason: 'torn_frame', frame: 1 }],
    [
      'an absurd length',
      joined(say('a'), new Uint8Array(8).fill(255)),
      { reason: 'frame_too_large', frame: 1 },
    ],
    [
      'a torn frame behind megabytes',
      joined(big(3 * MiB), big(3 * MiB), say('c').subarray(0, 9)),
      { reason: 'torn_frame', frame: 2 },
    ],
  ]
  it.each(bad)('with %s stores nothing', async (_, batch, facts) => {
    const { run } = await started()
    const upload = await uploadParts(run, batch)
    for (let i = 0; i < 2; i++) {
      await expect(upload.complete()).rejects.toMatchObject({ code: 'bad_frames', facts })
    }
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('names the archive position of what is torn', async () => {
    const { run } = await started()
    const upload = await uploadParts(run, joined(say('a'), say('b').subarray(0, -1)))
    const offset = run.tail + say('a').length
    await expect(upload.complete()).rejects.toMatchObject({ facts: { offset } })
  })

  it('with other bytes than it announced stores nothing', async () => {
    const { run } = await started()
    const upload = await uploadParts(run, say('a'), { sha256: sha256(say('b')) })
    await expect(upload.complete()).rejects.toMatchObject({
      code: 'bad_frames',
      facts: { reason: 'wrong_digest' },
    })
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('of an empty archive begins with the preamble', async () => {
    const { archive } = testArchive()
    const run = await StoredRun.begin(archive)
    const bare = await uploadParts(run, say('a'))
    await expect(bare.complete()).rejects.toMatchObject({ facts: { reason: 'missing_preamble' } })
    const alone = await uploadParts(run, PREAMBLE)
    expect(await alone.complete()).toMatchObject({ tail: 6, frames: 0 })
  })

  it('does not decode a first record that is no Header', async () => {
    const { archive, ports } = testArchive()
    const run = await StoredRun.begin(archive)
    await (await uploadParts(run, joined(PREAMBLE, point, header))).complete()
    expect(await ports.index.head(run.key)).toMatchObject({ headed: false, frames: 2, points: 0 })
  })
})

describe('who may upload', () => {
  it('is judged when it is opened as for an append', async () => {
    const { run, archive } = await started()
    const open = (more: object) => uploadParts(run, say('a'), more)
    await expect(open({ epoch: 9 })).rejects.toMatchObject({ code: 'fenced', facts: { tail: run.tail } })
    await expect(open({ offset: run.tail + 1 })).rejects.toMatchObject({
      code: 'gap',
      facts: { tail: run.tail },
    })
    await expect(open({ length: 6 * 2 ** 40 })).rejects.toMatchObject({ code: 'too_large' })
    await archive.release(run.key, run.epoch)
    await expect(open({})).rejects.toMatchObject({ code: 'fenced' })
    await archive.remove(run.key, { force: true })
    await expect(open({})).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is judged again at its end, by the epoch it was opened with', async () => {
    const { run, archive, ports } = await started()
    const upload = await uploadParts(run, say('a'))
    await archive.acquire(run.key, { machine_id: 'other', world_id: 'w', force: true })
    await expect(upload.complete()).rejects.toMatchObject({ code: 'fenced', facts: { tail: run.tail } })
    expect(await everyKey(ports, 'uploads/')).not.toEqual([])
    await upload.abort()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
  })

  it('never reaches a run that was made again under the same id', async () => {
    const { run, archive } = await started()
    const upload = await uploadParts(run, say('a'))
    await archive.remove(run.key, { force: true })
    const next = await StoredRun.begin(archive)
    expect(next.epoch).toBeGreaterThan(run.epoch)
    await expect(upload.complete()).rejects.toMatchObject({ code: 'not_found' })
    expect(await digestOf(next)).toBe(sha256(new Uint8Array()))
  })

  it('is the run’s alone: another run or tenant has no such upload', async () => {
    const { run, archive } = await started()
    const { opened, parts, complete } = await uploadParts(run, say('a'))
    const other = await StoredRun.begin(archive, 'other')
    const tenant = { tenant: 'else', run_id: 'run' }
    await archive.acquire(tenant, run.owner)
    for (const key of [other.key, tenant]) {
      const elsewhere = archive.completeUpload(key, opened.upload_id, { parts })
      await expect(elsewhere).rejects.toMatchObject({ code: 'not_found' })
      await archive.abortUpload(key, opened.upload_id)
    }
    await complete()
  })
})

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

describe('the end of an upload', () => {
  it('is an abort, after which nothing is left and it cannot be completed', async () => {
    const { run, ports } = await started()
    const upload = await uploadParts(run, big(6 * MiB))
    await upload.abort()
    await upload.abort()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
    await expect(upload.complete()).rejects.toMatchObject({ code: 'not_found' })
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('is a day later, when maintenance forgets what was not completed', async () => {
    const { run, ports, clock } = await started()
    const upload = await uploadParts(run, big(6 * MiB))
    const { pass } = createMaintainer(ports, clock)
    clock.advance(DAY - 1)
    await pass()
    expect(await everyKey(ports, 'uploads/')).toHaveLength(3)
    clock.advance(1)
    await pass()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
    expect(await ports.uploadIndex.ofRun(run.key)).toEqual([])
    await expect(upload.complete()).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is the deletion of its run', async () => {
    const { run, ports, clock, archive } = await started()
    await uploadParts(run, big(6 * MiB))
    await archive.remove(run.key, { force: true })
    await createMaintainer(ports, clock).pass()
    expect(await everyKey(ports, 'uploads/')).toEqual([])
    expect(await ports.uploadIndex.ofRun(run.key)).toEqual([])
  })

  it('is tried again by the next pass when the storage fails', async () => {
    const { run, ports, clock } = await started()
    await uploadParts(run, say('a'))
    clock.advance(2 * DAY)
    const uploads = { ...ports.uploads, abort: () => Promise.reject(new Error('broken')) }
    await expect(createMaintainer({ ...ports, uploads }, clock).pass()).rejects.toThrow()
    expect(await ports.uploadIndex.ofRun(run.key)).toHaveLength(1)
    await createMaintainer(ports, clock).pass()
    expect(await ports.uploadIndex.ofRun(run.key)).toEqual([])
  })
})

describe('a sweep meanwhile', () => {
  const raise = async (ports: StorePorts, run: StoredRun) => {
    const head = await ports.index.head(run.key)
    await ports.index.commit(run.key, {}, { set: { sweep: (head?.sweep ?? 0) + 1 } })
  }

  it('makes the completion store its object again under the new generation', async () => {
    const { run, ports } = await started()
    const batch = big(100)
    const upload = await uploadParts(run, batch)
    await raise(ports, run)
    expect(await upload.complete()).toMatchObject({ replayed: false })
    const extents = Object.values((await ports.index.head(run.key))?.extents ?? {})
    expect(extents.at(-1)).toMatchObject({ sweep: 1, length: batch.length })
    expect(await digestOf(run)).toBe(sha256(joined(run.bytes, batch)))
  })

  it('that removed the object ends the upload, and never the archive', async () => {
    const { run, ports, archive } = await started()
    const upload = await uploadParts(run, big(100))
    const [record] = await ports.uploadIndex.ofRun(run.key)
    const complete = ports.uploads.complete
    const stalled: StorePorts = {
      ...ports,
      uploads: {
        ...ports.uploads,
        complete: async (place, parts) => {
          await complete(place, parts)
          await raise(ports, run)
          await ports.objects.remove([record?.key ?? ''])
        },
      },
    }
    const { clock, limits } = archive
    const slow = createArchive(stalled, { clock, limits })
    const late = slow.completeUpload(run.key, upload.opened.upload_id, { parts: upload.parts })
    await expect(late).rejects.toMatchObject({ code: 'not_found' })
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })

  it('takes away what was refused, and nothing that is named', async () => {
    const { run, ports, clock } = await started()
    const batch = big(100)
    await (await uploadParts(run, batch)).complete()
    run.bytes = joined(run.bytes, batch)
    const torn = await uploadParts(run, say('a').subarray(0, -1))
    await expect(torn.complete()).rejects.toMatchObject({ code: 'bad_frames' })
    expect(await archiveKeys(ports)).toHaveLength(3)
    clock.advance(2 * HOUR)
    const { pass } = createMaintainer(ports, clock)
    await pass()
    clock.advance(2 * HOUR)
    await pass()
    expect(await archiveKeys(ports)).toHaveLength(1)
    expect(await digestOf(run)).toBe(sha256(run.bytes))
  })
})

it('any archive cut into appends and uploads at frame boundaries is the archive', async () => {
  const large = [big(3 * MiB), big(4 * MiB - 100), big(5 * MiB + 1)]
  const frames = fc.array(
    fc.oneof(
      fc.constantFrom(header, point, status('running'), frameOf('{'), frameOf('')),
      fc.string({ maxLength: 30 }).map(say),
      fc.constantFrom(...large),
    ),
    { maxLength: 8 },
  )
  await fc.assert(
    fc.asyncProperty(frames, fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), async (list, direct) => {
      const clock = manualClock()
      const cut = await StoredRun.begin(createArchive(memoryPorts(clock), { clock, limits: LIMITS }))
      const plain = await StoredRun.begin(createArchive(memoryPorts(clock), { clock, limits: LIMITS }))
      const batches = [joined(PREAMBLE), ...list]
      for (const [i, batch] of batches.entries()) {
        const ack = direct[i]
          ? await (await uploadParts(cut, batch)).complete()
          : await cut.send({ bytes: batch })
        cut.bytes = joined(cut.bytes, batch)
        expect(ack).toEqual(await plain.send({ bytes: batch }))
        plain.bytes = cut.bytes
      }
      expect(await digestOf(cut)).toBe(sha256(cut.bytes))
      const shown = await Promise.all([cut, plain].map(({ archive, key }) => archive.run(key)))
      expect(shown[0]).toEqual(shown[1])
    }),
    { numRuns: 20 },
  )
}, 30_000)
