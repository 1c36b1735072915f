import type { FoldPart, RecordKind } from '#schema'
import type { Session } from '../session.ts'
import { FileReading } from './file-reading.ts'
import { ServerReading } from './server-reading.ts'
import { fileOf } from './target.ts'

export type Shape = 'summary' | 'full' | 'delta'

export interface RecordsWanted {
  readonly from?: number
  /** exclusive */
  readonly to?: number
  readonly kinds?: readonly RecordKind[]
}

export interface PointsWanted {
  readonly shape: Shape
  readonly from?: number
  /** Every Nth point and the last. */
  readonly step?: number
}

/** A moment of the run; the end where nothing is named. At most one is. */
export interface Moment {
  readonly seq?: number
  readonly point?: number
  readonly at?: number
}

/**
 * What can be read of an archive, wherever it lies: a file, or a run on a server. The values have the shapes of
 * schema/reading.ts; they may hold Raw bytes and lazy lists, so print them with Output.json or read them with `plain`.
 */
export interface Reading {
  /** Its path, where it is a file. */
  readonly file?: string
  records(wanted: RecordsWanted): AsyncIterable<unknown>
  points(wanted: PointsWanted): AsyncIterable<unknown>
  /** Rejects with range_not_satisfiable or not_found past the end. */
  point(number: number): Promise<unknown>
  fold(moment: Moment, parts?: readonly FoldPart[]): Promise<unknown>
  diff(from: number, to: number): Promise<unknown>
  /** What was used, of which records (schema/usage.ts). */
  usage(): Promise<unknown>
  /** Reads every byte of the archive, or of a range of offsets. */
  verify(from?: number, to?: number): Promise<unknown>
  /** The verbatim bytes. */
  bytes(): AsyncIterable<Uint8Array>
}

/** The archive a command line means: an existing file, something that looks like one, or else a run. */
export const openReading = async (session: Session, target: string): Promise<Reading> => {
  const file = await fileOf(session.io.cwd, target)
  return file === undefined
    ? new ServerReading(await session.client(), target)
    : new FileReading(file, session.signal)
}

/** Lets `use` read the archive, and tells afterwards what it met in a file that is no record. */
export const withReading = async (
  session: Session,
  target: string,
  use: (reading: Reading) => Promise<void>,
): Promise<undefined> => {
  const reading = await openReading(session, target)
  try {
    await use(reading)
  } finally {
    if (reading instanceof FileReading && !session.signal.aborted) await reading.leftOut.tell(session, target)
  }
  return undefined
}
