import { PREAMBLE } from '#codec'
import type { Head } from '#store'
import { createMaintainer } from '#store'
import { derivedKey, objectKey, parseNoteKey } from '../../shared/store/keys.ts'
import { snapshotsOf } from '../../shared/store/reading/snapshots.ts'
import { listed } from './faulty-ports.ts'
import { RUN } from './model-client.ts'
import type { ModelRun } from './model-run.ts'
import type { Told } from './model-told.ts'
import { collected, sha256 } from './stored-run.ts'

// The promises (DESIGN.md) that must hold of a model's run whatever its actors did. Each throws a sentence of what is wrong.

const DAY_MS = 86_400_000
/** Small ones, for a rebuild; a deletion or a new life that was begun and not made leaves its own. */
const MAX_NOTES = 4

/** After every step: the extents leave no hole, and each has its object (P2, P7). */
export async function checkExtents({ ports }: ModelRun): Promise<void> {
  const head = await ports.index.head(RUN)
  if (!head?.alive) return
  let end = 0
  for (const [name, extent] of Object.entries(head.extents)) {
    if (Number(name) !== end)
      throw new Error(`an extent begins at ${Number(name)}, the one before ends at ${end}`)
    if (!(await ports.objects.facts(objectKey(RUN, end, extent))))
      throw new Error(`the object of the extent at ${end} is not stored`)
    end += extent.length
  }
  if (end !== head.tail) throw new Error(`the extents end at ${end}, the archive at ${head.tail}`)
}

/** When all actors are through, or dead. */
export async function checkPromises(run: ModelRun): Promise<void> {
  const { told, ports } = run
  checkEpochs(told)
  checkRefusals(run)
  const head = await ports.index.head(RUN)
  if (head?.alive) {
    const bytes = await storedBytes(run, head)
    checkAcked(told, head, bytes)
    checkFenced(told, head, bytes)
    checkReads(told, head, bytes)
    await checkRetries(run, head)
  }
  await checkGarbage(run)
}

/** All that is stored, against what the head says of it. */
async function storedBytes({ archive }: ModelRun, head: Head): Promise<Uint8Array> {
  const view = await archive.view(RUN)
  const bytes = await collected(view.bytes(0, head.tail))
  const digest = sha256(bytes)
  if (digest !== head.digest) throw new Error(`the digest is ${head.digest}, of the bytes ${digest}`)
  const texts = textsOf(bytes)
  if (new Set(texts).size !== texts.length) throw new Error(`a batch is stored twice: ${texts.join(', ')}`)
  if (texts.length !== head.frames) throw new Error(`${texts.length} frames, the head says ${head.frames}`)
  return bytes
}

/** P2, P3: where its owner was told, and the batches of one owner in the order in which they were sent. */
function checkAcked({ acked }: Told, head: Head, bytes: Uint8Array): void {
  const ends = new Map<string, number>()
  for (const { actor, epoch, offset, bytes: batch, answer } of acked.filter(isOfLife(head))) {
    const what = `the batch of ${actor} acked at ${offset} of epoch ${epoch}`
    const end = offset + batch.length
    if (Buffer.compare(bytes.subarray(offset, end), batch) !== 0) throw new Error(`${what} is lost`)
    if (answer.tail !== end || answer.digest !== sha256(bytes.subarray(0, end)))
      throw new Error(`${what} was acked with another tail or digest`)
    if (answer.frames !== textsOf(bytes.subarray(0, end)).length)
      throw new Error(`${what} was acked with another count of frames`)
    if (offset < (ends.get(actor) ?? 0)) throw new Error(`${what} stands before one that was sent earlier`)
    ends.set(actor, end)
  }
}

/** P5: behind the tail that the next epoch began at stands nothing older. */
function checkFenced({ taken }: Told, head: Head, bytes: Uint8Array): void {
  for (const { epoch, tail, digest } of taken.filter(isOfLife(head))) {
    if (digest !== sha256(bytes.subarray(0, tail)))
      throw new Error(`epoch ${epoch} was told another digest at ${tail}`)
    const late = textsOf(bytes, tail).filter((text) => (epochOf(text) ?? epoch) < epoch)
    if (late.length > 0)
      throw new Error(`epoch ${epoch} began at ${tail}, behind it stands ${late.join(', ')}`)
  }
  const dead = textsOf(bytes).filter((text) => (epochOf(text) ?? head.life) < head.life)
  if (dead.length > 0) throw new Error(`in life ${head.life} stands ${dead.join(', ')}`)
}

function checkEpochs({ taken }: Told): void {
  const epochs = taken.map(({ epoch }) => epoch)
  if (new Set(epochs).size !== epochs.length)
    throw new Error(`an epoch was given twice: ${epochs.join(', ')}`)
}

/** Every read is what the archive was at some time. */
function checkReads({ read }: Told, head: Head, bytes: Uint8Array): void {
  for (const { head: seen, bytes: got } of read) {
    if (sha256(got) !== seen.digest) throw new Error('a read is not what its head tells')
    if (seen.life !== head.life) continue
    if (Buffer.compare(bytes.subarray(0, got.length), got) !== 0)
      throw new Error('a read was no prefix of the archive')
  }
}

/** Nobody is refused without a reason, and no read fails within the grace of the sweep. */
function checkRefusals({ told, expected, graceMs }: ModelRun): void {
  for (const { actor, error, took } of told.refused) {
    const isSlow = graceMs > 0 && took >= graceMs && error.code === 'internal'
    if (!isSlow && !expected.has(error.code))
      throw new Error(`${actor} was refused: ${error.code}, ${error.message}`, { cause: error })
  }
}

/** P3: an owner whose ack was lost sends again, and is answered the same. */
async function checkRetries({ told, archive }: ModelRun, head: Head): Promise<void> {
  for (const { epoch, offset, bytes, answer } of told.acked) {
    if (!head.lease || epoch !== head.epoch) continue
    const { replayed, tail, digest } = await archive.append(RUN, { epoch, offset, bytes })
    if (!replayed) throw new Error(`the batch at ${offset} was stored a second time`)
    if (tail !== answer.tail || digest !== answer.digest)
      throw new Error(`the batch at ${offset} was acked otherwise the second time`)
  }
}

/** What is not named goes when maintenance has had its time, and nothing else does. */
async function checkGarbage(run: ModelRun): Promise<void> {
  const { ports, clock, graceMs, snapshots } = run
  const before = await ports.index.head(RUN)
  const maintainer = createMaintainer(ports, clock, { graceMs, snapshots })
  for (const wait of [DAY_MS, graceMs, DAY_MS, graceMs]) {
    clock.advance(wait + 1)
    await maintainer.pass()
    await checkExtents(run)
  }
  const head = await ports.index.head(RUN)
  if (head?.digest !== before?.digest) throw new Error('maintenance has changed the archive')
  if (head?.alive) await storedBytes(run, head)
  const stored = (await listed(ports.objects, '')).map(({ key }) => key)
  const notes = stored.filter((key) => parseNoteKey(RUN, key))
  const named = head ? await namesOf(run, head) : []
  const isExact = named.every((key) => stored.includes(key)) && stored.length - notes.length === named.length
  if (!isExact || notes.length > MAX_NOTES)
    throw new Error(`named are\n  ${named.join('\n  ')}\nstored are\n  ${stored.join('\n  ')}`)
  const row = await ports.index.card(RUN)
  if (head?.alive ? row?.life !== head.life : row) throw new Error('the listing shows another life')
}

/** The keys of all objects that the head names, itself or by its index of snapshots. */
async function namesOf({ archive }: ModelRun, { alive, extents, snapshot }: Head): Promise<string[]> {
  if (!alive) return []
  const names = Object.entries(extents).map(([start, extent]) => objectKey(RUN, Number(start), extent))
  if (!snapshot) return names
  const { entries } = await snapshotsOf(await archive.view(RUN))
  if (entries.length === 0) throw new Error('the index of snapshots is gone')
  const places = [snapshot, ...entries.map(({ object }) => object)]
  return [...new Set([...names, ...places.map((place) => derivedKey(RUN, place))])]
}

const isOfLife =
  ({ life }: Head) =>
  ({ epoch }: { readonly epoch: number }) =>
    epoch >= life

/** The texts of all messages from an offset on. */
function textsOf(bytes: Uint8Array, from = PREAMBLE.length): string[] {
  const texts: string[] = []
  for (let at = Math.max(from, PREAMBLE.length); at < bytes.length; ) {
    const end = at + 8 + Buffer.from(bytes).readUInt32BE(at + 4)
    texts.push(JSON.parse(Buffer.from(bytes.subarray(at + 8, end)).toString()).Message.message.content)
    at = end
  }
  return texts
}

/** Undefined for what was there before anybody moved. */
function epochOf(text: string): number | undefined {
  const [word, epoch] = text.split(' ')
  return word === 'epoch' ? Number(epoch) : undefined
}
