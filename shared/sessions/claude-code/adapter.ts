import type { Adapter } from '../parser.ts'
import { agentTranscripts } from './files.ts'
import { ClaudeCodeParser } from './parser.ts'

/** Claude Code (SESSIONS.md 4.1). */
export const claudeCode: Adapter = {
  harness: 'claude-code',
  version: 1,
  transcripts: (id, paths) => [{ path: `${id}.jsonl` }, ...agentTranscripts(id, paths)],
  begin: (transcript, saved) => new ClaudeCodeParser(transcript, saved),
}
