import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { createArchive, createMaintainer, type Head } from '#store'
import { memoryPorts } from '#store/memory'
import { manualClock } from '../../../kit/manual-clock.ts'
import { frameOf, joined, LIMITS, StoredRun, say, sha256, testArchive } from '../../../kit/stored-run.ts'
import { uploadParts } from '../../../kit/upload-batch.ts'
import { big, digestOf, HOUR, header, MiB, point, started, status } from './kit.ts'

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
