import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ArchiveBody } from '#client'
import type { RunAnswer } from '#schema'
import { bytes } from '../data/format.ts'
import { useSigned } from '../parts/context.ts'
import { Problem } from '../parts/problem.tsx'

/** The archive is held in memory on its way to a file; longer ones are for the command line. */
const MAX_BYTES = 512 << 20

/** The verbatim bytes as a file (scope `resume`). A link could not carry the token, so they are fetched. */
export function Download({ run }: { readonly run: RunAnswer }): JSX.Element {
  const { client } = useSigned()
  const [done, setDone] = useState<number>()
  const [error, setError] = useState<unknown>()
  const fetchAll = async () => {
    setError(undefined)
    setDone(0)
    try {
      const body = await client(new AbortController().signal).archive(run.run_id)
      save(`${run.run_id}.lvr`, await blobOf(body, setDone))
    } catch (cause) {
      setError(cause)
    } finally {
      setDone(undefined)
    }
  }
  if (run.tail > MAX_BYTES) {
    return (
      <p class="help">
        An archive of {bytes(run.tail)} is best fetched by <code>runfold pull {run.run_id}</code>.
      </p>
    )
  }
  return (
    <>
      <p>
        <button type="button" onClick={() => void fetchAll()} disabled={done !== undefined}>
          {done === undefined ? `Download ${run.run_id}.lvr` : `${bytes(done)} of ${bytes(run.tail)}`}
        </button>
      </p>
      {error !== undefined && <Problem error={error} />}
    </>
  )
}

async function blobOf({ chunks }: ArchiveBody, told: (done: number) => void): Promise<Blob> {
  const pieces: Uint8Array[] = []
  let done = 0
  for await (const piece of chunks) {
    pieces.push(piece)
    done += piece.length
    told(done)
  }
  return new Blob(pieces as BlobPart[], { type: 'application/vnd.runfold.lvr1' })
}

function save(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
