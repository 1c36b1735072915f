import { isRunfoldError, type RunKey } from '#schema'
import { type Archive, createArchive, createMaintainer, type StorePorts, systemClock } from '#store'
import { collected, frameOf, joined } from './stored-run.ts'

// Writers that share an epoch and do not give up, on services that fail; and what must then be found in the archive.

const MIB = 1_048_576
const WORKER = { machine_id: 'machine-1', world_id: 'world-1' }
const PREAMBLE = Buffer.from('LVR1\0\u0001', 'latin1')

export const contendedArchive = (ports: StorePorts): Archive =>
  createArchive(ports, {
    clock: systemClock,
    limits: { max_batch_bytes: 8 * MIB, max_frame_bytes: 8 * MIB },
  })

/** Any JSON is kept; what it says is for the test to find again. */
export const note = (text: string): Uint8Array => frameOf(JSON.stringify({ Note: text }))

/** Sends the same request again for as long as the answer says that it may. */
export async function insist<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!isRunfoldError(error, 'unavailable', 'slow_down')) throw error
    }
  }
}

/** A batch, and where its writer was told that it is. */
export interface Placed {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Takes the run and writes the archive's first bytes. */
export async function beginRun(archive: Archive, run: RunKey): Promise<number> {
  const { epoch } = (await insist(() => archive.acquire(run, WORKER))).answer
  await insist(() => archive.append(run, { offset: 0, epoch, bytes: PREAMBLE }))
  return epoch
}

/** Appends the batch wherever the archive ends, as one of several writers of an epoch. */
export async function appendSomewhere(
  archive: Archive,
  run: RunKey,
  epoch: number,
  bytes: Uint8Array,
): Promise<Placed> {
  let offset = (await insist(() => archive.run(run))).answer.tail
  for (;;) {
    const request = { offset, epoch, bytes }
    try {
      await insist(() => archive.append(run, request))
      return { offset, bytes }
    } catch (error) {
      if (!isRunfoldError(error, 'offset_conflict', 'gap', 'overlap')) throw error
      offset = Number(error.facts.tail)
    }
  }
}

export async function bytesOf(archive: Archive, run: RunKey): Promise<Uint8Array> {
  const view = await archive.view(run)
  return collected(view.bytes(0, view.head.tail))
}

interface Contention {
  readonly run_id: string
  readonly writers: number
  /** Of each writer. */
  readonly batches: number
  /** A writer lets maintenance have a pass after so many of its batches. */
  readonly passEvery: number
}

interface Doors {
  /** What the writers go through. */
  readonly faulty: StorePorts
  /** Apart, for maintenance alone may list. */
  readonly upkeep: StorePorts
}

/** All writers at once. Resolves with what each was told, in its own order. */
export async function contend(
  { faulty, upkeep }: Doors,
  { run_id, writers, batches, passEvery }: Contention,
): Promise<Placed[][]> {
  const archive = contendedArchive(faulty)
  const maintainer = createMaintainer(upkeep, systemClock)
  const run = { tenant: 'default', run_id }
  const epoch = await beginRun(archive, run)
  const write = async (writer: number) => {
    const placed: Placed[] = []
    for (let n = 0; n < batches; n++) {
      const text = `${writer}.${n} ${'x'.repeat((writer * 131 + n * 17) % 900)}`
      placed.push(await appendSomewhere(archive, run, epoch, note(text)))
      // Merges while others append; what fails here is done by a later pass.
      if (n % passEvery === passEvery - 1) await maintainer.pass().catch(() => {})
    }
    return placed
  }
  return Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
}

/** What the archive must be, byte for byte; throws where a writer's batches are not in the order it sent them. */
export function wantedBytes(told: readonly (readonly Placed[])[]): Uint8Array {
  for (const placed of told) {
    const isBackwards = placed.some(({ offset }, n) => n > 0 && offset <= (placed[n - 1]?.offset ?? 0))
    if (isBackwards) throw new Error('the batches of a writer are not in the order it sent them')
  }
  const inOrder = told.flat().sort((a, b) => a.offset - b.offset)
  return joined(PREAMBLE, ...inOrder.map(({ bytes }) => bytes))
}
