export { streamFrameBatches, streamFrames, type TornReason } from './assemble.ts'
export { concat, joined } from './concat.ts'
export { type Digest, digestOf, EMPTY_DIGEST, extendDigest, loadDigest } from './digest.ts'
export type { UnreadableFrame } from './doubts.ts'
export { canonicalEqual } from './equal.ts'
export {
  encodeFrame,
  type Frame,
  type FramePlace,
  frameLength,
  MAX_FRAME_BYTES,
  type Place,
  PREFIX_BYTES,
  walkFrames,
} from './frame.ts'
export type { HeldDelta, HeldRecord, HeldRegion, HeldRegionDelta, HeldWindow } from './held.ts'
export { type Holdable, hold } from './hold.ts'
export { type Finding, inspect, inspectTorn } from './inspect.ts'
export { isJson, JsonGrammar } from './json/grammar.ts'
export { parseJson } from './json/parse.ts'
export { jsonBytes, jsonChunks, jsonText } from './json/write.ts'
export { callCount, readLater, waitingBytes } from './later.ts'
export { callIds, pickMeta } from './pick.ts'
export { checkPreamble, PREAMBLE, PREAMBLE_BYTES } from './preamble.ts'
export { Raw } from './raw.ts'
export {
  type ArchiveItem,
  type ReadPayload,
  readArchive,
  readFrames,
  readStream,
  readStrict,
  type TornTail,
} from './reader.ts'
export {
  encodeArchive,
  encodeRecord,
  readMeta,
  readMetaWithSecret,
  readRecord,
  readTrusted,
  recordView,
  type Scan,
  scanRecord,
} from './record.ts'
export { type SalvagedRecord, salvage } from './salvage.ts'
export { Unreadable } from './unreadable.ts'
