import {
  digestOf,
  encodeArchive,
  encodeFrame,
  jsonText,
  loadDigest,
  PREAMBLE,
  parseJson,
  readArchive,
  walkFrames,
} from '#codec'
import { points } from '#fold'
import type { JournalRecord, RunKey } from '#schema'
import type { ArchiveView, Clock, Extent, Head, Objects } from '#store'
import { openView } from '#store'
import { memoryPorts } from '#store/memory'
import { NOTHING } from '../../../../shared/store/head.ts'
import { objectKey } from '../../../../shared/store/keys.ts'

export const RUN: RunKey = { tenant: 'default', run_id: 'run-1' }
const CLOCK: Clock = { now: () => 0, sleep: async () => {} }

/** A run as the store keeps it: objects and a head that names them. `perObject` frames go into one object. */
export interface StoredRun {
  readonly bytes: Uint8Array
  readonly objects: Objects
  readonly head: Head
  /** Where each frame begins, and the tail. */
  readonly offsets: readonly number[]
  readonly view: ArchiveView
  /** A view with this head now, while a read began with another. */
  viewFrom(began: Head, refresh?: () => Promise<Head | undefined>): ArchiveView
  /** Stores the same bytes in other pieces, as merging does, and gives the head that names these. */
  restored(perObject: number, sweep: number): Promise<Head>
}

export async function storedRun(bytes: Uint8Array, perObject = 7): Promise<StoredRun> {
  await loadDigest()
  const { objects } = memoryPorts(CLOCK)
  const offsets =
    bytes.length === 0
      ? [0]
      : [...walkFrames(bytes.subarray(PREAMBLE.length), { offset: PREAMBLE.length })].map(
          ({ offset }) => offset,
        )
  if (bytes.length > 0) offsets.push(bytes.length)
  const counts = bytes.length === 0 ? 0 : [...points(readArchive(bytes))].length

  const restored = async (each: number, sweep: number): Promise<Head> => {
    const extents: Record<string, Extent> = {}
    for (let n = 0; n < offsets.length - 1 || (n === 0 && bytes.length > 0); n += each) {
      const start = n === 0 ? 0 : (offsets[n] as number)
      const part = bytes.slice(start, offsets[Math.min(n + each, offsets.length - 1)])
      const extent = { length: part.length, hash: digestOf(part).slice(0, 16), sweep, at: 0 }
      await objects.put(objectKey(RUN, start, extent), [part], {})
      extents[String(start).padStart(16, '0')] = extent
    }
    return { ...headOf(bytes, offsets.length - 1, counts), extents, sweep }
  }
  const head = await restored(perObject, 0)
  const viewFrom = (began: Head, refresh = async (): Promise<Head | undefined> => began) =>
    openView(objects, RUN, began, refresh)
  return { bytes, objects, head, offsets, view: viewFrom(head), viewFrom, restored }
}

const unreadableIn = (bytes: Uint8Array): number =>
  bytes.length === 0 ? 0 : [...readArchive(bytes)].filter(({ type }) => type === 'unreadable').length

function headOf(bytes: Uint8Array, frames: number, count: number): Omit<Head, 'extents'> {
  return {
    ...NOTHING,
    life: 1,
    alive: true,
    epoch: 1,
    sweep: 0,
    tail: bytes.length,
    frames,
    points: count,
    unreadable: unreadableIn(bytes),
    digest: digestOf(bytes),
    due_at: null,
    created_at: 0,
    changed_at: 0,
  }
}

export const archiveOf = (records: Iterable<JournalRecord>): Uint8Array => encodeArchive(records)

/** Frames of any payload behind an archive, readable or not. */
export function withPayloads(bytes: Uint8Array, ...payloads: string[]): Uint8Array {
  const encoder = new TextEncoder()
  return Buffer.concat([bytes, ...payloads.map((payload) => encodeFrame(encoder.encode(payload)))])
}

/** What a reader of the JSON answer sees. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked at freely here
export const seen = (answer: unknown): any => parseJson(jsonText(answer))

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
