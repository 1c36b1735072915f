import type { Adapter } from '../parser.ts'
import { agentWires, MAIN, STATE, wireOf } from './files.ts'
import { KimiCodeParser } from './parser.ts'

/** Kimi Code (SESSIONS.md 4.3): a session is a folder. */
export const kimiCode: Adapter = {
  harness: 'kimi-code',
  version: 1,
  last: STATE,
  transcripts: (_, paths) => [{ path: wireOf(MAIN) }, ...agentWires(paths)],
  begin: (transcript, saved) => new KimiCodeParser(transcript, saved),
}
