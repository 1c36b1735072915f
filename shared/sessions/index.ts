export type {
  Counters,
  Derivation,
  Derived,
  FileVersion,
  Input,
  SessionFiles,
  TranscriptRequest,
} from './adapter.ts'
export { deriveTranscript } from './derive.ts'
export { deriveEntry } from './entry.ts'
export { parserOf, transcriptsOf } from './harnesses.ts'
export { inputsStand } from './inputs.ts'
