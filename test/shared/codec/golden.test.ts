import { expect, it } from 'vitest'
import {
  encodeRecord,
  isJson,
  readArchive,
  readRecord,
  readStrict,
  recordView,
  scanRecord,
  Unreadable,
  walkFrames,
} from '#codec'
import { differences, goldenBytes, goldenCases, goldenLines, probes } from '../../kit/golden.ts'
import { describeShared, hasShared, sharedBytes } from '../../kit/shared-folder.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const lenient = (bytes: Uint8Array) =>
  [...readArchive(bytes, recordView)].flatMap((item) => (item.type === 'record' ? [item.record] : []))
const strict = (bytes: Uint8Array) => [...readStrict(bytes, recordView)].map(({ record }) => record)

describeShared('the golden archives', () => {
  const cases = hasShared ? goldenCases() : []

  it.each(cases.map((one) => [one.file, one] as const))(
    '%s reads as the reference reads it',
    async (file, one) => {
      const bytes = goldenBytes(file)
      for (const [outcome, read] of [
        [one.head.read, strict],
        [one.head.read_lenient, lenient],
      ] as const) {
        if (!outcome.ok) {
          expect(() => read(bytes)).toThrow(expect.objectContaining({ code: 'bad_frames' }))
          continue
        }
        const records = read(bytes)
        expect(records.length).toBe(outcome.lines)
        const lines = outcome.file === undefined ? [] : goldenLines(outcome.file)
        for (const [i, line] of lines.entries()) {
          expect(await differences(line, text(records[i]?.bytes ?? new Uint8Array()))).toEqual([])
        }
      }
    },
  )

  it.each(['head', 'seed'])('%s/gen-100 gives the records its own build wrote', async (build) => {
    const records = strict(goldenBytes(`${build}/gen-100.lvr`))
    const lines = goldenLines(`${build}/gen-100.records.jsonl`)
    expect(records.length).toBe(lines.length)
    for (const [i, line] of lines.entries()) {
      const found = await differences(line, text(records[i]?.bytes ?? new Uint8Array()))
      // Seed does not write the later fields; we fill in their defaults.
      expect(found.filter(({ expected }) => build === 'head' || expected !== 'absent')).toEqual([])
    }
  })

  it.each(['head/gen-100.lvr', 'head/gen-2000.lvr'])(
    '%s decoded and encoded again is the same bytes',
    (file) => {
      for (const { payload } of walkFrames(goldenBytes(file).subarray(6))) {
        const view = recordView(payload)
        expect(text(encodeRecord(view.read()))).toBe(text(payload))
        // What is canonical is held where it stands, not copied.
        expect(view.bytes.buffer).toBe(payload.buffer)
      }
    },
  )

  it('temperatures are written as the reference writes them', () => {
    const files = cases.filter(
      ({ file }) => file.startsWith('cases/temperature-') && !file.includes('overflow'),
    )
    expect(files.length).toBeGreaterThan(6)
    for (const { file, head } of files) {
      const written = lenient(goldenBytes(file)).map((record) => text(encodeRecord(record.read())))
      expect(written).toEqual(goldenLines(head.read_lenient.file ?? ''))
    }
  })
})

describeShared('the probes', () => {
  it.each(hasShared ? probes().map((probe) => [probe.name, probe] as const) : [])('%s', async (_, probe) => {
    const payload = new TextEncoder().encode(probe.input)
    if (probe.head.startsWith('OK')) {
      expect(await differences(probe.head.slice(4), text(recordView(payload).bytes))).toEqual([])
      expect(readRecord(payload).kind).toBe(Object.keys(recordView(payload).read())[0])
      expect(isJson(payload)).toBe(true)
    } else {
      expect(() => recordView(payload)).toThrow(Unreadable)
      expect(() => readRecord(payload)).toThrow(Unreadable)
      expect(scanRecord(payload)).toBeInstanceOf(Unreadable)
    }
  })
})

describeShared('the hand-made inputs', () => {
  const items = (file: string) =>
    [...readArchive(sharedBytes(`format/inputs/${file}`), scanRecord)].map((item) => {
      if (item.type === 'record') return item.record.kind
      return item.type === 'torn' ? `torn at ${item.offset}: ${item.reason}` : `unreadable: ${item.reason}`
    })

  it('frames this build cannot read hide nothing behind them', () => {
    expect(items('09-unknown-kind.lvr')).toEqual([
      'Header',
      'unreadable: unknown_kind',
      'unreadable: not_a_record',
      'unreadable: invalid: Header',
      'Message',
      'ContextCheckpoint',
    ])
  })

  it('a garbage length is a torn tail and a length of zero is a frame', () => {
    expect(items('10-garbage-length.lvr')).toEqual([
      'Header',
      'ContextCheckpoint',
      'torn at 806: frame_too_large',
    ])
    expect(items('10-length-over-2p53.lvr')).toEqual(['Header', 'torn at 525: frame_too_large'])
    expect(items('10-zero-length.lvr')).toEqual(['Header', 'unreadable: not_json', 'Message'])
  })

  it('an empty file, a short preamble and a newer version are three refusals', () => {
    expect(() => items('11-empty.lvr')).toThrow('the file is empty')
    expect(() => items('11-short-preamble.lvr')).toThrow('truncated')
    expect(() => items('11-version-2.lvr')).toThrow('format version 2, this reader knows up to 1')
  })

  it('the secret is in no decoded view', () => {
    const views = lenient(sharedBytes('format/inputs/13-callback-secret.lvr')).map(({ bytes }) => text(bytes))
    expect(views.length).toBe(3)
    expect(views.join()).not.toContain('CANARY-SECRET')
    expect(views.join()).toContain('CANARY-URL')
  })
})
