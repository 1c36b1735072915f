import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { EMPTY_DIGEST } from '#codec'
import { verifyAnswer } from '#store'
import { demoRecords } from '../../../../functions/cli/demo-run.ts'
import { all, archiveOf, type StoredRun, storedRun, withPayloads } from './kit.ts'

const bytes = withPayloads(
  archiveOf(demoRecords({ seed: 61, records: 60, entryBytes: 800 })),
  '{"Odd":1}',
  'x'.repeat(3000),
  '',
)
const sha256 = (part: Uint8Array) => createHash('sha256').update(part).digest('hex')
let run: StoredRun
beforeEach(async () => {
  run = await storedRun(bytes, 7)
})

const extents = () =>
  Object.entries(run.head.extents).map(([name, { length }]) => ({ offset: Number(name), length }))
async function change(nth: number, edit: (part: Uint8Array) => Uint8Array) {
  const keys = (await all(run.objects.list(''))).map(({ key }) => key)
  const key = keys[nth] as string
  await run.objects.put(key, [edit((await run.objects.get(key)) as Uint8Array)], {})
  return key
}

describe('verify', () => {
  it('finds a sound run sound, unreadable records and all', async () => {
    expect(await verifyAnswer(run.view, {})).toEqual({
      ok: true,
      bytes: bytes.length,
      frames: 63,
      digest: sha256(bytes),
      problems: [],
      unreadable_frames: 3,
    })
  })

  it('gives a range its own digest and frames', async () => {
    const at = run.offsets
    for (const [from, to, frames] of [
      [0, at[9] as number, 9],
      [0, 6, 0],
      [6, at[1] as number, 1],
      [at[20] as number, at[41] as number, 21],
      [at[30] as number, bytes.length, 33],
      [at[5] as number, at[5] as number, 0],
    ] as const) {
      const answer = await verifyAnswer(run.view, { from, to })
      expect(answer).toEqual({
        ok: true,
        bytes: to - from,
        frames,
        digest: sha256(bytes.subarray(from, to)),
        problems: [],
      })
    }
  })

  it('says that a run without bytes is sound', async () => {
    const empty = await storedRun(new Uint8Array(0))
    expect(await verifyAnswer(empty.view, {})).toEqual({
      ok: true,
      bytes: 0,
      frames: 0,
      digest: EMPTY_DIGEST,
      problems: [],
      unreadable_frames: 0,
    })
  })

  it('finds one changed bit anywhere, and the object that holds it', async () => {
    for (const [nth, { offset, length }] of extents().entries()) {
      await change(nth, (part) => part.with(part.length >> 1, (part[part.length >> 1] as number) ^ 1))
      const { ok, problems } = await verifyAnswer(run.view, {})
      expect(ok).toBe(false)
      expect(problems).toContainEqual(expect.objectContaining({ offset, length, code: 'changed_bytes' }))
      await change(nth, (part) => part.with(part.length >> 1, (part[part.length >> 1] as number) ^ 1))
    }
    expect((await verifyAnswer(run.view, {})).ok).toBe(true)
  })

  it('goes on behind a lost and a short object, and names both', async () => {
    const [, second, , fourth] = extents()
    await run.objects.remove([await change(1, (part) => part)])
    const left = (await all(run.objects.list(''))).map(({ key }) => key)
    await run.objects.put(left[2] as string, [new Uint8Array(5)], {})
    const { ok, problems, bytes: seen } = await verifyAnswer(run.view, {})
    expect(ok).toBe(false)
    expect(problems).toEqual(
      [second, fourth].map((part) => ({ ...part, code: 'unreadable_bytes', detail: expect.any(String) })),
    )
    expect(seen).toBe(bytes.length - (second?.length ?? 0) - (fourth?.length ?? 0))
  })

  it('finds what only the digest of the whole can tell', async () => {
    const wrong = run.viewFrom({ ...run.head, digest: sha256(bytes.subarray(1)) })
    const { problems } = await verifyAnswer(wrong, {})
    expect(problems).toEqual([
      { offset: 0, length: bytes.length, code: 'digest_mismatch', detail: expect.any(String) },
    ])
  })

  it('finds changed bytes in an object whose hash is not of its bytes', async () => {
    const [name] = Object.keys(run.head.extents)
    const first = { ...(run.head.extents[name as string] as object), hash: 'x123456789abcdef' }
    const head = { ...run.head, extents: { ...run.head.extents, [name as string]: first as never } }
    const part = bytes.slice(0, extents()[0]?.length)
    const { objectKey } = await import('../../../../shared/store/keys.ts')
    const key = objectKey({ tenant: 'default', run_id: 'run-1' }, 0, first as never)
    await run.objects.put(key, [part], {})
    expect((await verifyAnswer(run.viewFrom(head), {})).ok).toBe(true)
    await run.objects.put(key, [part.with(900, (part[900] as number) ^ 1)], {})
    expect((await verifyAnswer(run.viewFrom(head), {})).problems[0]?.code).toBe('digest_mismatch')
  })

  it('shows a range that is not cut between frames', async () => {
    const inside = (run.offsets[3] as number) + 20
    for (const range of [{ to: inside }, { from: inside }]) {
      expect((await verifyAnswer(run.view, range)).problems[0]?.code).toBe('torn_frame')
    }
  })

  it('names no byte behind a range that ends within the preamble', async () => {
    for (const to of [1, 3, 5]) {
      const { problems } = await verifyAnswer(run.view, { to })
      expect(problems).toEqual([
        { offset: 0, length: to, code: 'torn_frame', detail: expect.stringContaining('preamble') },
      ])
    }
    await change(0, (part) => part.with(0, 0))
    const { problems } = await verifyAnswer(run.view, { to: 3 })
    expect(problems).toEqual([expect.objectContaining({ offset: 0, length: 3 })])
  })

  it('refuses a range that runs backwards or past the tail', async () => {
    await expect(verifyAnswer(run.view, { from: 100, to: 50 })).rejects.toMatchObject({ code: 'bad_request' })
    for (const range of [{ from: bytes.length + 1 }, { to: bytes.length + 1 }]) {
      await expect(verifyAnswer(run.view, range)).rejects.toMatchObject({
        code: 'range_not_satisfiable',
        facts: { tail: bytes.length },
      })
    }
  })
})
