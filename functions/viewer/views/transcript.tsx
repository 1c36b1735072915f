import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { count } from '../data/format.ts'
import { hashOf, withQuery } from '../data/route.ts'
import { readMessage } from '../data/session-document.ts'
import type { SessionAgent } from '../data/transcript.ts'
import { Note } from '../parts/problem.tsx'
import { MessageView } from './message.tsx'
import type { SessionRoute } from './session.tsx'

/** Messages that stand on a page. */
const PAGE = 100

interface TranscriptProps {
  readonly route: SessionRoute
  readonly messages: readonly Uint8Array[]
  readonly agents: readonly SessionAgent[]
  /** The message the reader came for. */
  readonly at: number
}

/** The conversation, a page of it at a time; only its messages are parsed. */
export function Transcript({ route, messages, agents, at }: TranscriptProps): JSX.Element {
  const first = Math.floor(at / PAGE) * PAGE
  const shown = useMemo(() => messages.slice(first, first + PAGE).map(readMessage), [messages, first])
  const agentOf = (call: string) => {
    const agent = agents.find(({ spawned_by }) => spawned_by === call)
    return agent && hashOf(withQuery(route, { agent: agent.id, at: undefined }))
  }
  const wanted = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (at > first) wanted.current?.scrollIntoView({ block: 'start' })
  }, [at, first])
  if (messages.length === 0) return <Note>The transcript is empty.</Note>
  return (
    <section aria-label="Transcript">
      <Pages route={route} first={first} total={messages.length} />
      <ol class="messages" start={first}>
        {shown.map((message, n) => (
          <li key={first + n} ref={first + n === at ? wanted : null} class={`message kind-${message.kind}`}>
            <MessageView
              message={message}
              number={first + n}
              agentOf={agentOf}
              address={hashOf(withQuery(route, { at: String(first + n) }))}
            />
          </li>
        ))}
      </ol>
      <Pages route={route} first={first} total={messages.length} />
    </section>
  )
}

interface PagesProps {
  readonly route: SessionRoute
  readonly first: number
  readonly total: number
}

function Pages({ route, first, total }: PagesProps): JSX.Element | null {
  if (total <= PAGE) return null
  const to = (at: number) => hashOf(withQuery(route, { at: String(at) }))
  const end = Math.min(total, first + PAGE)
  return (
    <nav class="pages" aria-label="Pages of the transcript">
      {first > 0 && <a href={to(0)}>Begin</a>}
      {first > 0 && <a href={to(first - PAGE)}>Earlier</a>}
      <span class="help">
        messages {count(first)} to {count(end - 1)} of {count(total)}
      </span>
      {end < total && <a href={to(end)}>Later</a>}
      {end < total && <a href={to(total - 1)}>End</a>}
    </nav>
  )
}
