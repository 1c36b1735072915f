import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeFrame, readArchive } from '#codec'
import { plainHeader } from '../../kit/plain-header.ts'
import { cliIn, demoBytes } from './kit.ts'

const FRAME_TORN = Buffer.from([0, 0, 0, 0, 0, 0, 1, 0, 0x7b])

describe('reading a local archive without a server', () => {
  it('lists every record, whole, an item a line', async () => {
    const { run, write } = cliIn()
    write('run.lvr', demoBytes(60))
    const { code, lines } = await run('records run.lvr --json')
    expect(code).toBe(0)
    expect(lines).toHaveLength(60)
    expect(lines[0]).toMatchObject({ seq: 0, offset: 6, kind: 'Header', at: null, record: { Header: {} } })
    expect((await run('records run.lvr --json --from 3 --to 5')).lines.map((line) => line.seq)).toEqual([
      3, 4,
    ])
    const kinds = (await run('records run.lvr --json --kind Header,Progress')).lines.map((line) => line.kind)
    expect(new Set(kinds)).toEqual(new Set(['Header', 'Progress']))
  })

  it('folds to any moment', async () => {
    const { run, write } = cliIn()
    write('run.lvr', demoBytes(60))
    const [end] = (await run('fold run.lvr --json')).lines
    expect(end).toMatchObject({ run_id: 'demo-1', seq: 60, folded: { meta: { callback_secret: null } } })
    const [early] = (await run('fold run.lvr --json --seq 2 --parts context')).lines
    expect(early).toMatchObject({ seq: 2, point: 0, folded: { context: { regions: [{}, {}, {}, {}, {}] } } })
    expect((early as { folded: object }).folded).not.toHaveProperty('meta')
    const [point] = (await run('fold run.lvr --json --point 3')).lines
    expect(point).toMatchObject({ point: 3 })
    const at = (await run('records run.lvr --json --from 10 --to 11')).lines[0]?.at
    expect((await run(`fold run.lvr --json --at ${at}`)).lines[0]).toMatchObject({ seq: 11 })
  })

  it('says what is wrong with a moment that is not there', async () => {
    const { run, write } = cliIn()
    write('run.lvr', demoBytes(60))
    expect(await run('fold run.lvr --seq 61')).toMatchObject({ code: 3, out: '' })
    expect(await run('fold run.lvr --point 999')).toMatchObject({ code: 3, out: '' })
    expect(await run('replay run.lvr --point 999')).toMatchObject({ code: 3, out: '' })
    expect(await run('fold run.lvr --seq 0')).toMatchObject({ code: 11, out: '' })
    expect((await run('fold run.lvr --at 1')).err).toContain('no record is as old as 1')
    expect((await run('fold run.lvr --seq 0')).err).toContain('after 0 frames')
    expect(await run('fold run.lvr --seq 1 --point 0')).toMatchObject({ code: 2, out: '' })
  })

  it('replays points in three shapes, and every Nth with the last', async () => {
    const { run, write } = cliIn()
    write('run.lvr', demoBytes(60))
    const all = (await run('replay run.lvr --json')).lines
    expect(all.map((each) => each.point)).toEqual(all.map((_, i) => i))
    const steps = (await run('replay run.lvr --json --step 4')).lines.map((each) => each.point as number)
    expect(steps.slice(0, 2)).toEqual([0, 4])
    expect(steps.at(-1)).toBe(all.length - 1)
    expect((await run('replay run.lvr --json --shape delta --from 2')).lines[0]).toMatchObject({
      point: 2,
      delta: {},
    })
    expect((await run('replay run.lvr --json --shape full')).lines[0]).toMatchObject({
      context: {},
      meta: {},
    })
    expect((await run('replay run.lvr --json --point 2')).lines).toHaveLength(1)
  })

  it('shows what changed between two points', async () => {
    const { run, write } = cliIn()
    write('run.lvr', demoBytes(60))
    expect((await run('diff run.lvr 0 3 --json')).lines[0]).toMatchObject({ from: 0, to: 3, delta: {} })
    expect((await run('diff run.lvr 0 3')).out).toContain('+ conversation grows')
  })

  it('verifies every byte, and a range between frame boundaries', async () => {
    const { run, write } = cliIn()
    const bytes = demoBytes(60)
    write('run.lvr', bytes)
    const digest = createHash('sha256').update(bytes).digest('hex')
    expect((await run('verify run.lvr --json')).lines[0]).toMatchObject({
      ok: true,
      frames: 60,
      bytes: bytes.length,
      digest,
    })
    const frames = [...readArchive(bytes)].flatMap((item) => ('frame' in item ? [item.frame] : []))
    const [from, to] = [frames[3]?.offset ?? 0, frames[9]?.offset ?? 0]
    const range = createHash('sha256').update(bytes.subarray(from, to)).digest('hex')
    expect((await run(`verify run.lvr --json --from ${from} --to ${to}`)).lines[0]).toMatchObject({
      frames: 6,
      digest: range,
    })
    expect((await run(`verify run.lvr --from ${from + 1}`)).code).toBe(2)
    expect((await run(`verify run.lvr --to ${bytes.length + 1}`)).code).toBe(3)
  })

  it('reports damage, never hiding what stands before it', async () => {
    const { run, write } = cliIn()
    const sound = demoBytes(60)
    write('torn.lvr', Buffer.concat([sound, FRAME_TORN]))
    const verdict = await run('verify torn.lvr --json')
    expect(verdict).toMatchObject({ code: 10 })
    expect(verdict.lines[0]).toMatchObject({
      ok: false,
      frames: 60,
      problems: [{ offset: sound.length, length: 9 }],
    })
    expect((await run('records torn.lvr --json')).lines).toHaveLength(60)
    const { code, out } = await run('inspect torn.lvr')
    expect(code).toBe(10)
    expect(out).toMatch(/ 2026-\S+Z {2}ContextCheckpoint/)
    expect(out).not.toMatch(/ 1\d{9} /)
  })

  it('says in one line what it left out, beside an answer that stays as it was', async () => {
    const { run, write } = cliIn()
    const sound = demoBytes(60)
    const unknown = encodeFrame(Buffer.from('{"Unheard":{}}'))
    write('run.lvr', sound)
    write('torn.lvr', Buffer.concat([sound, FRAME_TORN]))
    write('both.lvr', Buffer.concat([sound, unknown, unknown, FRAME_TORN]))
    const torn = `torn.lvr: a torn tail of 9 bytes at offset ${sound.length} was left out\n`
    const both =
      `both.lvr: 2 unreadable frames, the first at ${`offset ${sound.length}`}, were stepped over, and a torn tail of ` +
      `9 bytes at offset ${sound.length + 2 * unknown.length} was left out\n`
    for (const line of ['fold', 'records --kind Header', 'replay', 'replay --shape delta', 'usage']) {
      const [verb = '', ...rest] = line.split(' ')
      const { out } = await run([verb, 'run.lvr', ...rest])
      expect(await run([verb, 'torn.lvr', ...rest]), line).toMatchObject({ code: 0, out, err: torn })
      const damaged = await run([verb, 'both.lvr', ...rest])
      expect([damaged.code, damaged.err], line).toEqual([0, both])
    }
    const { err } = await run('fold both.lvr --json')
    expect(JSON.parse(err)).toEqual({
      note: 'left_out',
      file: 'both.lvr',
      detail: both.slice('both.lvr: '.length, -1),
      unreadable: { frames: 2, first_offset: sound.length },
      torn: { offset: sound.length + 2 * unknown.length, length: 9, reason: 'short_payload' },
    })
  })

  it('says why there is no such point where the rest is torn, and nothing of a tear it did not come to', async () => {
    const { run, write } = cliIn()
    write('torn.lvr', Buffer.concat([demoBytes(60), FRAME_TORN]))
    const { code, err } = await run('diff torn.lvr 0 999')
    expect([code, err.split('\n').slice(0, 2)]).toEqual([
      3,
      [expect.stringContaining('a torn tail'), expect.stringContaining('there is no point 999')],
    ])
    expect(await run('diff torn.lvr 0 1')).toMatchObject({ code: 0, err: '' })
    expect(await run('records torn.lvr --to 3')).toMatchObject({ code: 0, err: '' })
  })

  it('salvages on demand only, and marks what it finds', async () => {
    const { run, write } = cliIn()
    const sound = demoBytes(20)
    const behind = encodeFrame(Buffer.from('{"StatusChanged":{"status":"running","at":5}}'))
    write('torn.lvr', Buffer.concat([sound, Buffer.from([0, 0, 0, 0, 0, 9, 9, 9]), behind]))
    expect((await run('inspect torn.lvr --json')).lines).toHaveLength(21)
    const lines = (await run('inspect torn.lvr --json --salvage')).lines
    expect(lines.at(-1)).toMatchObject({
      salvaged: true,
      offset: sound.length + 8,
      kind: 'StatusChanged',
      at: 5,
    })
  })

  it.each([
    ['empty.lvr', '', 'empty'],
    ['magic.lvr', 'LVR2\0\u0001', 'LVR1'],
    ['version.lvr', 'LVR1\0\u0002', 'version 2'],
    ['short.lvr', 'LVR1', 'truncated'],
  ])('refuses %s by name', async (name, content, what) => {
    const { run, write } = cliIn()
    write(name, Buffer.from(content))
    const { code, err } = await run(`records ${name}`)
    expect(code).toBe(11)
    expect(err).toContain(what)
  })

  it('takes an argument with a slash or .lvr for a file, and says when it is not there', async () => {
    const { run } = cliIn()
    for (const name of ['nothing.lvr', './nothing']) {
      const { code, err } = await run(`fold ${name}`)
      expect(code).toBe(2)
      expect(err).toContain('there is no such file')
    }
  })

  it('keeps the digits of every number', async () => {
    const { run, write } = cliIn()
    const big =
      '{"InferenceUsage":{"kind":"stage","stage":"s","iteration":0,"provider":"p","model":"m","prompt_tokens":18446744073709551615,"completion_tokens":0,"cached_tokens":0,"cache_write_tokens":0,"at":-9223372036854775808}}'
    write('big.lvr', Buffer.concat([Buffer.from('LVR1\0\u0001'), encodeFrame(Buffer.from(big))]))
    expect((await run('records big.lvr --json')).out).toContain(big)
    expect((await run('records big.lvr')).out).toContain('18446744073709551615 prompt')
  })

  it('keeps them of what a window says of its entries, and tells no stage of none', async () => {
    const { run, write } = cliIn()
    const entries = [{ content: 'c', tokens: 1 }]
    const regions = [{ name: 'r', kind: 'Clearable', current_tokens: 1, max_tokens: 9, entries }]
    const snapshot = { stage_name: 's', total_tokens: 1, max_tokens: 9, regions }
    const [header, checkpoint] = [plainHeader({ num_stages: 0 }), { ContextCheckpoint: { snapshot, at: 1 } }]
    const tokens = '18446744073709551615'
    const texts = [header, checkpoint].map((record) => JSON.stringify(record))
    const frames = texts.map((text) =>
      encodeFrame(Buffer.from(text.replace('"tokens":1', `"tokens":${tokens}`))),
    )
    write('big.lvr', Buffer.concat([Buffer.from('LVR1\0\u0001'), ...frames]))
    const { out, err } = await run('fold big.lvr --entries')
    expect(err).toBe('')
    expect(out).toContain(`${tokens} tokens`)
    expect(out).toMatch(/stage +s\n/)
  })
})

describe('the demo run', () => {
  it('is written once and replaced only with --force', async () => {
    const { run, folder } = cliIn()
    expect((await run('demo --records 30')).code).toBe(0)
    const first = readFileSync(join(folder, 'run.lvr'))
    expect(first).toEqual(demoBytes(30))
    expect(await run('demo')).toMatchObject({ code: 2 })
    expect((await run('demo run.lvr --seed 2 --records 30 --force')).code).toBe(0)
    expect(readFileSync(join(folder, 'run.lvr'))).not.toEqual(first)
  })
})
