import type { Harness } from '#schema'
import { kept } from '../../../shared/sessions/facts.ts'
import type { Home } from '../../../shared/sessions/home.ts'
import type { Adapter, Transcript, TranscriptParser } from '../../../shared/sessions/parser.ts'
import { timeOf } from '../../../shared/sessions/time.ts'
import { textOf } from '../../../shared/sessions/values.ts'

// Notes keeps a session in `~/.notes/talks/<id>.jsonl`: {"who": "me"|"it", "text", "at"}, and {"name"} for its title.

const harness = 'notes' as Harness // a line in HARNESSES, shared/schema/session-files.ts, makes it one

export const notesHome: Home = {
  harness,
  variable: 'NOTES_HOME',
  folder: '.notes',
  roots: ['talks'],
  place(path) {
    const id = /^talks\/([^/]+)\.jsonl$/.exec(path)?.[1]
    return id === undefined ? undefined : { id, path: `${id}.jsonl` }
  },
}

export const notes: Adapter = {
  harness,
  version: 1,
  transcripts: (id) => [{ path: `${id}.jsonl` }],
  begin: (transcript) => parser(transcript),
}

function parser({ facts, emit }: Transcript): TranscriptParser {
  return {
    take(record) {
      const at = timeOf(record.get('at'))
      facts.seenAt(at)
      facts.title = kept(record.get('name')) ?? facts.title
      const who = record.get('who')
      const content = [{ type: 'text' as const, text: textOf(record.get('text')) ?? '' }]
      if (who === 'me') emit({ role: 'user', kind: 'prompt', timestamp: at, content })
      else if (who === 'it') emit({ role: 'assistant', kind: 'reply', timestamp: at, content })
      else if (!record.has('name')) facts.unknownRecord(textOf(who) ?? '')
    },
    save: () => ({}),
    finish: () => {},
    trailer: async () => ({ usage: {} }),
  }
}
