import type { JSX } from 'preact'
import { count } from '../data/format.ts'
import { hashOf } from '../data/route.ts'
import type { SessionAbout } from '../data/transcript.ts'
import { ShortText } from '../parts/text.tsx'
import type { SessionRoute } from './session.tsx'

interface SessionRelativesProps {
  readonly route: SessionRoute
  readonly about: SessionAbout
}

/** Where the session comes from, and the sub-agents it sent out. */
export function SessionRelatives({ route, about }: SessionRelativesProps): JSX.Element {
  const { lineage, agents = [] } = about
  const to = (id: string, agent?: string) =>
    hashOf({
      ...route,
      id,
      query: { ...(route.query.machine && { machine: route.query.machine }), ...(agent && { agent }) },
    })
  return (
    <>
      {lineage?.parent !== undefined && (
        <p>
          Sent out by <a href={to(lineage.parent)}>{lineage.parent}</a>
        </p>
      )}
      {lineage?.forked_from !== undefined && (
        <p>
          Forked from <a href={to(lineage.forked_from)}>{lineage.forked_from}</a>
          {lineage.embedded_messages !== undefined &&
            `, with ${count(lineage.embedded_messages)} of its messages`}
        </p>
      )}
      {agents.length > 0 && (
        <details>
          <summary>
            {count(agents.length)} {agents.length === 1 ? 'sub-agent' : 'sub-agents'}
          </summary>
          <ul class="related">
            {agents.map(({ id, kind, description }) => (
              <li key={id}>
                <a href={to(route.id, id)}>
                  <ShortText text={description ?? id} max={140} />
                </a>
                {kind !== undefined && (
                  <span class="chip">
                    <ShortText text={kind} max={40} />
                  </span>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
