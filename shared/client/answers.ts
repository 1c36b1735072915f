import type * as z from 'zod'
import { digest, type Json, RunfoldError } from '../schema/index.ts'
import { bodyOf } from './lines.ts'

/** What HEAD of a run tells. */
export interface RunTail {
  readonly tail: number
  readonly frames: number
  /** Lower-case hex SHA-256 of archive bytes 0..tail. */
  readonly digest: string
  readonly epoch: number
}

/** Archive bytes on their way, and where they belong. */
export interface ArchiveBody {
  /** Position in the archive of the first byte. */
  readonly start: number
  readonly chunks: AsyncGenerator<Uint8Array>
}

/** The answer if it has the shape; fields this version does not know are kept. */
export const conforming = <S extends z.ZodType>(shape: S, answer: Json): z.infer<S> => {
  const known = shape.safeParse(answer)
  if (known.success) return answer as z.infer<S>
  const where = known.error.issues.map((issue) => issue.path.join('.') || 'the whole').join(', ')
  throw unexpected(`the answer is not of the expected shape at: ${where}`)
}

export const drained = async (response: Response): Promise<void> => {
  await response.arrayBuffer()
}

export const readTail = async ({ headers }: Response): Promise<RunTail> => {
  const size = (name: string) => {
    const text = headers.get(name)
    if (text === null || !/^\d{1,16}$/.test(text))
      throw unexpected(`the header ${name} is missing or no size`)
    return Number(text)
  }
  const hash = digest.safeParse(headers.get('runfold-digest'))
  if (!hash.success) throw unexpected('the header runfold-digest is missing or no digest')
  return {
    tail: size('runfold-tail'),
    frames: size('runfold-frames'),
    epoch: size('runfold-epoch'),
    digest: hash.data,
  }
}

export const readEtag = async (response: Response): Promise<string> => {
  await drained(response)
  const etag = response.headers.get('etag')
  if (etag) return etag
  throw unexpected('the header etag is missing')
}

/** A server may answer a range with the whole archive; `start` says which of the two came. */
export const readArchive = (response: Response, asked: number, signal?: AbortSignal): ArchiveBody => {
  const partial = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')
  const start = response.status === 206 ? Number(partial?.[1] ?? Number.NaN) : 0
  if (response.status === 206 && start !== asked) throw unexpected('the answer is not the range asked for')
  return { start, chunks: bodyOf(response, signal) }
}

/** Something that speaks HTTP and JSON, but not as API.md says. */
const unexpected = (what: string): RunfoldError => new RunfoldError('internal', what, { foreign: true })
