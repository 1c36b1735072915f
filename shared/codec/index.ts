export { canonicalEqual } from './equal.ts'
export { encodeFrame, type Frame, MAX_FRAME_BYTES, type Place, walkFrames } from './frame.ts'
export type { HeldDelta, HeldRecord, HeldRegion, HeldRegionDelta, HeldWindow } from './held.ts'
export { type Holdable, hold } from './hold.ts'
export { isJson, JsonGrammar } from './json/grammar.ts'
export { parseJson } from './json/parse.ts'
export { jsonBytes, jsonChunks, jsonText } from './json/write.ts'
export { checkPreamble, PREAMBLE, PREAMBLE_BYTES } from './preamble.ts'
export { Raw } from './raw.ts'
export {
  encodeArchive,
  encodeRecord,
  readMeta,
  readMetaWithSecret,
  readRecord,
  recordView,
  type Scan,
  scanRecord,
  Unreadable,
} from './record.ts'
