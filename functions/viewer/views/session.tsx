import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Client } from '#client'
import { HARNESSES, type Harness } from '#schema'
import { numberIn, type Route, withQuery } from '../data/route.ts'
import { type SlicedDocument, sliceDocument } from '../data/session-document.ts'
import { sessionStack } from '../data/session-stack.ts'
import { Legend } from '../parts/legend.tsx'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { useLoad } from '../parts/use-load.ts'
import { useEvery } from '../parts/use-now.ts'
import { navigate } from '../parts/use-route.ts'
import { useTitle } from '../parts/use-title.ts'
import { SessionHead } from './session-head.tsx'
import { Timeline } from './timeline.tsx'
import { Transcript } from './transcript.tsx'

export type SessionRoute = Extract<Route, { view: 'session' }>

/** The page holds the document's bytes; longer ones are for the command line. */
const MAX_BYTES = 256 << 20
/** Fewer replies are told quicker than drawn. */
const CHARTED = 6
const LOOK_MS = 10_000

/** A session: its facts, how full the context was, and the transcript page by page. */
export function SessionView({ route }: { readonly route: SessionRoute }): JSX.Element {
  const harness = HARNESSES.find((one) => one === route.harness)
  useTitle(`Session ${route.id}`)
  if (!harness) {
    return (
      <>
        <h1>Nothing here</h1>
        <Note>No harness has this name; there are {HARNESSES.join(', ')}.</Note>
      </>
    )
  }
  return <Session route={route} harness={harness} />
}

function Session({
  route,
  harness,
}: {
  readonly route: SessionRoute
  readonly harness: Harness
}): JSX.Element {
  const { machine, agent } = route.query
  const name = { harness, id: route.id, machine }
  const key = JSON.stringify([name, agent])
  const { value, error, isLoading, again } = useLoad(key, (client) => documentOf(client, name, agent))
  const newest = useLoad(key, async (client) => {
    const { items } = await client.sessions({ harness, machine, q: route.id, limit: 10 })
    return items.find(({ id }) => id === route.id)
  })
  useEvery(LOOK_MS, newest.again)
  const hasGrown = !agent && value && newest.value?.document && newest.value.document.sha256 !== value.sha256
  return (
    <>
      {value ? (
        <SessionHead route={route} about={value.document.about} entry={newest.value} />
      ) : (
        <h1>{route.id}</h1>
      )}
      {error !== undefined && <Problem error={error} again={again} />}
      {!value && isLoading && <Loading />}
      <p class="news" role="status">
        {hasGrown && (
          <button type="button" onClick={again}>
            The session has grown; show all of it
          </button>
        )}
      </p>
      {value && <Messages route={route} document={value.document} />}
    </>
  )
}

function Messages({
  route,
  document,
}: {
  readonly route: SessionRoute
  readonly document: SlicedDocument
}): JSX.Element {
  const { messages, about } = document
  const last = messages.length - 1
  const at = Math.min(Math.max(0, last), numberIn(route.query, 'at') ?? 0)
  const stack = useMemo(() => sessionStack(messages, about.harness), [messages, about.harness])
  const show = (message: number) => navigate(withQuery(route, { at: String(message) }), 'replace')
  return (
    <>
      {stack.x.length >= CHARTED && (
        <section class="timeline" aria-label="Tokens by message">
          <Legend names={stack.bands.map(({ name }) => name ?? '')} what="Tokens of each reply" />
          <Timeline stack={stack} span={{ from: 0, to: Math.max(1, last) }} shown={at} onPoint={show} />
        </section>
      )}
      <Transcript route={route} messages={messages} agents={about.agents ?? []} at={at} />
    </>
  )
}

async function documentOf(
  client: Client,
  name: { harness: Harness; id: string; machine: string | undefined },
  agent: string | undefined,
): Promise<{ sha256: string; document: SlicedDocument }> {
  const { sha256, chunks } = await client.sessionDocument(name, agent)
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of chunks) {
    pieces.push(piece)
    size += piece.length
    if (size > MAX_BYTES)
      throw new Error(`this transcript is too long for a browser; runfold sessions show ${name.id}`)
  }
  const bytes = new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer())
  return { sha256, document: sliceDocument(bytes) }
}
