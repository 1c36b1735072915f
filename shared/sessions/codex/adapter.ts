import type { Adapter } from '../parser.ts'
import { rolloutAmong } from './files.ts'
import { endsTheSame } from './fork.ts'
import { CodexParser } from './parser.ts'

/** Codex CLI (SESSIONS.md 4.2): one rollout is one session, wherever its file has been moved. */
export const codex: Adapter = {
  harness: 'codex',
  version: 1,
  transcripts: (id, paths) => [{ path: rolloutAmong(paths) ?? `rollout-${id}.jsonl` }],
  begin: (transcript, saved) => new CodexParser(transcript, saved),
  // A run of copies that met another record is over for good; one that met the end of the ancestor's file is not.
  standsWithLater: (saved, files, file) => endsTheSame(saved.map('fork'), files, file),
}
