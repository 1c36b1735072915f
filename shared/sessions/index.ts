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
export { HOMES, parserOf, sendingOrder, transcriptsOf } from './harnesses.ts'
export { HEAD_BYTES, type Home, isLineOriented, type Place, refusalOf } from './home.ts'
export { inputsStand } from './inputs.ts'
