import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PREAMBLE } from '#codec'
import { createArchive } from '#store'
import { readBatch } from '../../../shared/store/batch.ts'
import { MAX_EXTENTS } from '../../../shared/store/commit.ts'
import { plainHeader } from '../../kit/plain-header.ts'
import { frameOf, joined, LIMITS, StoredRun, say, sha256, testArchive } from '../../kit/stored-run.ts'

const started = async () => {
  const kit = testArchive()
  /** Which knows nothing of what this one did. */
  const otherProcess = createArchive(kit.ports, { clock: kit.clock, limits: LIMITS })
  return { ...kit, run: await StoredRun.begin(kit.archive), otherProcess }
}

describe('an append', () => {
  it('is acked with the position, the counts and the digest of all bytes', async () => {
    const { run, clock } = await started()
    const ack = await run.append(
      say('a'),
      frameOf('no json'),
      frameOf(
        '{"ContextDiff":{"delta":{"stage_name":"s","total_tokens":1,"max_tokens":2,"regions":[]},"at":1}}',
      ),
    )
    expect(ack).toEqual({
      run_id: 'run',
      offset: 0,
      tail: run.tail,
      frames: 3,
      points: 0,
      digest: sha256(run.bytes),
      epoch: 1,
      lease: { ...run.owner, ttl_s: 60, expires_at: new Date(clock.now() + 60_000).toISOString() },
      replayed: false,
      unreadable_frames: 1,
      server_time: new Date(clock.now()).toISOString(),
    })
    expect(await run.append(say('b'))).toMatchObject({
      tail: run.tail,
      digest: sha256(run.bytes),
      frames: 4,
      unreadable_frames: 1,
    })
    expect(await run.stored()).toEqual(run.bytes)
  })

  it('keeps two equal batches in a row', async () => {
    const { run } = await started()
    for (let i = 0; i < 3; i++)
      expect(await run.append(say('same'))).toMatchObject({ replayed: false, frames: i + 1 })
    expect(await run.stored()).toEqual(run.bytes)
  })

  it.each([
    ['empty_batch', new Uint8Array(), 0],
    ['missing_preamble', say('x'), 0],
    ['bad_magic', new TextEncoder().encode('lvr1\0\x01'), 0],
    ['truncated_preamble', PREAMBLE.subarray(0, 5), 0],
    ['unsupported_version', Uint8Array.of(0x4c, 0x56, 0x52, 0x31, 0, 2), 0],
    ['torn_frame', joined(PREAMBLE, say('x').subarray(0, -1)), 6],
    ['frame_too_large', joined(PREAMBLE, Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 0)), 6],
  ])('of a first batch with %s is refused whole', async (reason, bytes, offset) => {
    const { run } = await started()
    await expect(run.send({ bytes })).rejects.toMatchObject({
      code: 'bad_frames',
      facts: { reason, offset, frame: 0 },
    })
    expect((await run.archive.view(run.key)).head).toMatchObject({ tail: 0, frames: 0, extents: {} })
  })

  it('names the first frame that is not whole, in the archive and in the batch', async () => {
    const { run } = await started()
    await run.append(say('x'))
    const good = say('good')
    const facts = { reason: 'torn_frame', frame: 2, offset: run.tail + 2 * good.length }
    await expect(run.send({ bytes: joined(good, good, good.subarray(0, 9)) })).rejects.toMatchObject({
      facts,
    })
    await expect(run.send({ bytes: new Uint8Array() })).rejects.toMatchObject({
      facts: { reason: 'empty_batch', offset: run.tail },
    })
  })

  it('over the limit is refused with the limits', async () => {
    const { run } = await started()
    const bytes = new Uint8Array(LIMITS.max_batch_bytes + 1)
    await expect(run.send({ bytes })).rejects.toMatchObject({ code: 'too_large', facts: LIMITS })
  })

  it('takes the position, then the bytes: a gap, a conflict and an overlap are told apart', async () => {
    const { run } = await started()
    await run.append(say('one'))
    const second = run.tail
    await run.append(say('two'))
    const facts = { tail: run.tail, digest: sha256(run.bytes), epoch: 1 }
    await expect(run.send({ offset: run.tail + 1 })).rejects.toMatchObject({ code: 'gap', facts })
    await expect(run.send({ offset: second, bytes: say('TWO') })).rejects.toMatchObject({
      code: 'offset_conflict',
      facts,
    })
    const longer = joined(say('two'), say('three'))
    await expect(run.send({ offset: second, bytes: longer })).rejects.toMatchObject({
      code: 'overlap',
      facts,
    })
    expect(await run.stored()).toEqual(run.bytes)
  })

  it('whose bytes stand in the middle of a payload is no replay', async () => {
    const { run } = await started()
    const inner = say('inner')
    await run.append(frameOf(joined(inner, new TextEncoder().encode('rest'))), say('after'))
    const offset = PREAMBLE.length + 8
    await expect(run.send({ offset, bytes: inner })).rejects.toMatchObject({ code: 'offset_conflict' })
    // Nor is its end a place to go on from, though the tail lies in it.
    const last = run.tail
    await run.append(frameOf(joined(inner, inner)))
    const overlapping = joined(inner, frameOf(joined(inner, inner)))
    await expect(
      run.send({ offset: last + 8 + inner.length, bytes: joined(inner, say('x')) }),
    ).rejects.toMatchObject({ code: 'overlap' })
    await expect(run.send({ offset: last + 8, bytes: overlapping })).rejects.toMatchObject({
      code: 'offset_conflict',
    })
  })

  it('is answered again at any age, however it was cut and whoever wrote it', async () => {
    const { run, archive } = await started()
    const acks = []
    for (let i = 0; i < 5; i++) {
      const offset = run.tail
      const bytes = i === 0 ? joined(PREAMBLE, frameOf('x')) : say(`batch ${i}`)
      acks.push({ offset, bytes, ack: await run.append(i === 0 ? frameOf('x') : bytes) })
    }
    const heir = await archive.acquire(run.key, { machine_id: 'heir', world_id: 'w', force: true })
    for (const { offset, bytes, ack } of acks) {
      const again = await run.send({ offset, bytes, epoch: heir.answer.epoch })
      expect(again).toEqual({ ...ack, replayed: true, epoch: heir.answer.epoch, lease: heir.answer.lease })
    }
    const middle = joined(...acks.slice(1, 4).map(({ bytes }) => bytes))
    const again = await run.send({ offset: acks[1]?.offset ?? 0, bytes: middle, epoch: heir.answer.epoch })
    expect(again).toMatchObject({ replayed: true, frames: 4, digest: acks[3]?.ack.digest })
    expect(await run.send({ offset: 0, bytes: PREAMBLE, epoch: heir.answer.epoch })).toMatchObject({
      replayed: true,
      tail: 6,
      frames: 0,
      digest: sha256(PREAMBLE),
    })
  })

  it('of another epoch is fenced, also when its bytes are stored', async () => {
    const { run, archive } = await started()
    await run.append(say('a'))
    const { answer } = await archive.acquire(run.key, { machine_id: 'heir', world_id: 'w', force: true })
    const facts = { epoch: 2, lease: answer.lease, tail: run.tail, digest: sha256(run.bytes) }
    for (const epoch of [1, 3]) {
      await expect(run.send({ epoch })).rejects.toMatchObject({ code: 'fenced', facts })
      await expect(run.send({ epoch, offset: 0, bytes: run.bytes })).rejects.toMatchObject({
        code: 'fenced',
        facts,
      })
      await expect(run.send({ epoch, offset: 9999 })).rejects.toMatchObject({ code: 'fenced', facts })
    }
    await archive.release(run.key, 2)
    await expect(run.send({ epoch: 2 })).rejects.toMatchObject({
      code: 'fenced',
      facts: { epoch: 2, lease: null },
    })
  })

  it('after the lease ran out and before anyone took it still lands, and revives the lease', async () => {
    const { run, clock } = await started()
    clock.advance(3_600_000)
    const ack = await run.append(say('late'))
    expect(Date.parse(ack.lease.expires_at)).toBe(clock.now() + 60_000)
  })

  it('to no run is not found', async () => {
    const { archive } = testArchive()
    await expect(new StoredRun(archive, 'none', 'm').send({ offset: 6 })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('waits while merging has fallen far behind', async () => {
    const { run, ports, otherProcess } = await started()
    await run.append(say('a'))
    const extents = Object.fromEntries(
      Array.from({ length: MAX_EXTENTS }, (_, i) => [String(i), { length: 1, hash: '', sweep: 0, at: 0 }]),
    )
    await ports.index.commit(run.key, {}, { set: {}, extents })
    const sent = otherProcess.append(run.key, { offset: run.tail, epoch: run.epoch, bytes: say('b') })
    await expect(sent).rejects.toMatchObject({ code: 'slow_down', facts: { retry_after_s: 1 } })
  })

  it('goes on from a hash state of an unknown version by reading the archive', async () => {
    const { run, ports, otherProcess } = await started()
    await run.append(say('a'), say('b'))
    await ports.index.commit(run.key, {}, { set: { hash_state: '99:future' } })
    for (const text of ['c', 'd']) {
      const sent = { offset: run.tail, epoch: run.epoch, bytes: say(text) }
      const { digest } = await otherProcess.append(run.key, sent)
      await run.append(sent.bytes)
      expect(digest).toBe(sha256(run.bytes))
    }
  })

  it('whose card was lost on the way makes it again', async () => {
    const { run, ports } = await started()
    const status = (word: string) => frameOf(`{"StatusChanged":{"status":"${word}","at":1}}`)
    await run.append(frameOf(JSON.stringify(plainHeader({ agent_name: 'agent' }))))
    await ports.index.removeCard(run.key, 99)
    expect((await run.archive.run(run.key)).answer).toMatchObject({ agent_name: 'agent', status: 'running' })
    await run.append(status('paused'))
    expect(await ports.index.card(run.key)).toMatchObject({
      card: { agent_name: 'agent', status: 'paused' },
      tail: run.tail,
    })
  })
})

it('a batch of very many frames lets other requests in while it is read', async () => {
  let pauses = 0
  const bytes = new Uint8Array(8 * 10_000)
  const batch = await readBatch(bytes, 6, async () => void pauses++)
  expect(batch).toMatchObject({ frames: 10_000, unreadable: 10_000, points: 0, end: 80_006 })
  expect(pauses).toBe(5)
})

it('any requests at all leave exactly what a byte array would hold', async () => {
  const request = fc.record({
    offset: fc.oneof({ weight: 3, arbitrary: fc.constant('tail' as const) }, fc.nat(400)),
    frames: fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 3 }),
    cut: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(3)),
  })
  const property = fc.asyncProperty(fc.array(request, { maxLength: 12 }), async (requests) => {
    const { run } = await started()
    let model = new Uint8Array() as Uint8Array
    for (const { offset: wanted, frames, cut } of requests) {
      const offset = wanted === 'tail' ? model.length : wanted
      const whole = joined(...(offset === 0 ? [PREAMBLE] : []), ...frames.map(frameOf))
      const bytes = whole.subarray(0, Math.max(0, whole.length - cut))
      const answer = await run.send({ offset, bytes }).catch((error) => error.code as string)
      const stored = model.subarray(offset, offset + bytes.length)
      if (typeof answer === 'string') {
        const isNew = offset === model.length && cut === 0 && bytes.length > 0
        expect(isNew).toBe(false)
      } else if (answer.replayed) {
        expect(bytes).toEqual(stored)
        expect(answer.digest).toBe(sha256(model.subarray(0, answer.tail)))
      } else {
        expect(offset).toBe(model.length)
        model = joined(model, bytes)
        expect(answer).toMatchObject({ tail: model.length, digest: sha256(model) })
      }
    }
    expect(await run.stored()).toEqual(model)
  })
  await fc.assert(property, { numRuns: 200 })
})
