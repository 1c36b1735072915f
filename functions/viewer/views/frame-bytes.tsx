import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Client } from '#client'
import { PREFIX_BYTES } from '#codec'
import type { RecordItem } from '#schema'
import { bytes } from '../data/format.ts'
import { Loading, Problem } from '../parts/problem.tsx'
import { LongText } from '../parts/text.tsx'
import { useLoad } from '../parts/use-load.ts'

/** What a frame that is no record holds may be anything; so much of it is shown. */
const MAX_BYTES = 65_536

/** The payload of a frame that cannot be read, as text where it is some: a kind this version does not know, most likely. */
export function FrameBytes({ run, item }: { readonly run: string; readonly item: RecordItem }): JSX.Element {
  const [isWanted, want] = useState(false)
  const { value, error, isLoading, again } = useLoad(isWanted ? `${run} ${item.seq}` : undefined, (client) =>
    payloadOf(client, run, item),
  )
  if (!isWanted) {
    return (
      <p>
        <button type="button" onClick={() => want(true)}>
          Show its bytes
        </button>{' '}
        <span class="help">from the archive itself, which needs a token of scope resume</span>
      </p>
    )
  }
  return (
    <>
      {error !== undefined && <Problem error={error} again={again} />}
      {isLoading && <Loading />}
      {value && <LongText text={value} isCode />}
      {value && item.length > MAX_BYTES && <p class="help">The first {bytes(MAX_BYTES)}.</p>}
    </>
  )
}

async function payloadOf(client: Client, run: string, { offset, length }: RecordItem): Promise<string> {
  const start = offset + PREFIX_BYTES
  const end = Math.min(offset + length, start + MAX_BYTES)
  if (start === end) return 'The frame is empty.'
  const body = await client.archive(run, { start, end })
  const pieces: Uint8Array[] = []
  for await (const piece of body.chunks) pieces.push(piece)
  return textOf(new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer()))
}

function textOf(payload: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(payload)
  } catch {
    return hexOf(payload)
  }
}

/** Sixteen bytes a line, after their place in the frame. */
function hexOf(payload: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < payload.length; at += 16) {
    const row = [...payload.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, '0'))
    lines.push(`${at.toString(16).padStart(6, '0')}  ${row.join(' ')}`)
  }
  return lines.join('\n')
}
