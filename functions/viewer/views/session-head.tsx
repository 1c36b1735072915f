import type { JSX } from 'preact'
import type { ListedSession, TokenUsage } from '#schema'
import { compact, count, NOTHING } from '../data/format.ts'
import { hashOf } from '../data/route.ts'
import type { SessionAbout, SessionProblem } from '../data/transcript.ts'
import { Fact } from '../parts/fact.tsx'
import { ShortText, Text } from '../parts/text.tsx'
import { Age, Time } from '../parts/time.tsx'
import type { SessionRoute } from './session.tsx'
import { SessionFiles } from './session-files.tsx'

interface SessionHeadProps {
  readonly route: SessionRoute
  readonly about: SessionAbout
  readonly entry: ListedSession | undefined
}

/** What is known of a session, where it comes from, and what belongs to it. */
export function SessionHead({ route, about, entry }: SessionHeadProps): JSX.Element {
  const { harness, id, agent, model, cwd, git, counts, usage } = about
  return (
    <header class="run-head">
      <p class="under">
        {harness} · <code>{id}</code>
        {agent !== undefined && (
          <>
            {' · sub-agent '}
            <code>
              <ShortText text={agent} max={60} />
            </code>
          </>
        )}
      </p>
      <h1>
        <ShortText text={about.title ?? entry?.title ?? id} max={160} />
      </h1>
      <dl class="facts">
        <Fact name="Folder">{cwd === undefined ? NOTHING : <ShortText text={cwd} max={100} />}</Fact>
        {git?.branch !== undefined && (
          <Fact name="Branch" isMinor>
            <ShortText text={git.branch} max={60} />
          </Fact>
        )}
        <Fact name="Model">{model === undefined ? NOTHING : <ShortText text={model} max={60} />}</Fact>
        <Fact name="Machine" isMinor>
          {route.query.machine ?? entry?.machine ?? NOTHING}
        </Fact>
        <Fact name="Messages">{count(counts.messages)}</Fact>
        <Fact name="Prompts">{count(counts.prompts)}</Fact>
        <Fact name="Tool calls" isMinor>
          {count(counts.tool_calls)}
        </Fact>
        <Usage usage={usage} />
        <Fact name="Begun" isMinor>
          <Time at={about.created_at} />
        </Fact>
        <Fact name="Updated">
          <Age at={about.updated_at} />
        </Fact>
      </dl>
      <Relatives route={route} about={about} />
      <Problems about={about} />
      <SessionFiles route={route} />
    </header>
  )
}

const USAGE = [
  ['Tokens in', 'input_tokens'],
  ['Tokens out', 'output_tokens'],
  ['From cache', 'cache_read_tokens'],
] as const

const Usage = ({ usage }: { readonly usage: TokenUsage }) => (
  <>
    {USAGE.map(([name, field]) => {
      const value = usage[field]
      const whole = value === undefined || typeof value === 'object' ? undefined : value
      return (
        <Fact key={field} name={name}>
          <span title={count(whole)}>{compact(whole)}</span>
        </Fact>
      )
    })}
  </>
)

/** Where the session comes from, and the sub-agents it sent out. */
function Relatives({ route, about }: Pick<SessionHeadProps, 'route' | 'about'>): JSX.Element {
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

/** What could not be read, and what was passed by: a harness that changes its format shows here first. */
function Problems({ about }: { readonly about: SessionAbout }): JSX.Element | null {
  const { problems = [], unknown_records = {}, tail } = about
  const unknown = Object.entries(unknown_records)
  if (problems.length === 0 && unknown.length === 0 && !tail) return null
  return (
    <details class="warn">
      <summary>
        {count(problems.length)} {problems.length === 1 ? 'problem' : 'problems'}
        {unknown.length > 0 &&
          `, ${count(unknown.length)} unknown ${unknown.length === 1 ? 'kind' : 'kinds'} of record`}
      </summary>
      <ul class="related">
        {problems.map((problem, n) => (
          <li key={n}>
            <ProblemLine problem={problem} />
          </li>
        ))}
        {unknown.map(([kind, times]) => (
          <li key={kind}>
            unknown record <Text text={kind || '(no type)'} />, {count(times)}{' '}
            {times === 1 ? 'time' : 'times'}
          </li>
        ))}
        {tail && (
          <li>
            {count(tail.bytes)} bytes at the end are no whole record yet, from {count(tail.offset)}
          </li>
        )}
      </ul>
    </details>
  )
}

const ProblemLine = ({
  problem: { code, path, line, offset, detail },
}: {
  readonly problem: SessionProblem
}) => (
  <>
    <code>{code}</code> <ShortText text={path} max={160} />
    {line !== undefined && `, line ${count(line)}`}
    {offset !== undefined && `, offset ${count(offset)}`}
    {detail !== undefined && (
      <>
        : <ShortText text={detail} max={200} />
      </>
    )}
  </>
)
