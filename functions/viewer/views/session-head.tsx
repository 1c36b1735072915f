import type { JSX } from 'preact'
import type { ListedSession, TokenUsage } from '#schema'
import { compact, count, NOTHING } from '../data/format.ts'
import type { SessionAbout } from '../data/transcript.ts'
import { Fact } from '../parts/fact.tsx'
import { ShortText } from '../parts/text.tsx'
import { Age, Time } from '../parts/time.tsx'
import type { SessionRoute } from './session.tsx'
import { SessionFiles } from './session-files.tsx'
import { SessionProblems } from './session-problems.tsx'
import { SessionRelatives } from './session-relatives.tsx'

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
      <SessionRelatives route={route} about={about} />
      <SessionProblems about={about} />
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
