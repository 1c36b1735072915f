import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Run } from '../../../shared/sessions/run.ts'
import { heldFiles } from '../../kit/session-files.ts'
import { notes, notesHome } from './example-harness.ts'

const DOCUMENT = new URL('../../../docs/ADDING-A-HARNESS.md', import.meta.url)
const SOURCE = new URL('./example-harness.ts', import.meta.url)

describe('the harness of docs/ADDING-A-HARNESS.md', () => {
  it('stands there as it is run here', () => {
    const shown = /```ts\n([\s\S]*?)```/.exec(readFileSync(DOCUMENT, 'utf8'))?.[1]
    const run = readFileSync(SOURCE, 'utf8')
      .replaceAll("'../../../shared/sessions/", "'../")
      .replace("'#schema'", "'../../schema/index.ts'")
    expect(shown).toBe(run)
  })

  it('finds its files and derives their documents', async () => {
    const place = notesHome.place('talks/one.jsonl')
    expect(place).toEqual({ id: 'one', path: 'one.jsonl' })
    expect(notesHome.place('settings.json')).toBeUndefined()

    const records = [
      { who: 'me', text: 'Why?', at: '2026-11-02T09:00:00Z' },
      { name: 'A question' },
      { who: 'it', text: 'Because.', at: '2026-11-02T09:00:01Z' },
      { who: 'them' },
    ]
    const bytes = new TextEncoder().encode(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    const files = heldFiles(new Map([['one.jsonl', { bytes }]]))
    const run = new Run({ harness: notes.harness, id: 'one', files, ancestor: async () => undefined }, notes)
    const parts: Uint8Array[] = []
    for await (const chunk of run.document()) parts.push(chunk)
    expect(JSON.parse(Buffer.concat(parts).toString())).toMatchObject({
      harness: 'notes',
      title: 'A question',
      messages: [{ kind: 'prompt' }, { kind: 'reply', content: [{ type: 'text', text: 'Because.' }] }],
      created_at: '2026-11-02T09:00:00.000Z',
      updated_at: '2026-11-02T09:00:01.000Z',
      unknown_records: { them: 1 },
    })
  })
})
