import type { JSX } from 'preact'
import type { RunAnswer } from '#schema'
import { bytes, compact, count, NOTHING } from '../data/format.ts'
import { RUN_TABS, type RunTab } from '../data/route.ts'
import { useSigned } from '../parts/context.ts'
import { Fact } from '../parts/fact.tsx'
import { Loading, Problem } from '../parts/problem.tsx'
import { Status } from '../parts/status.tsx'
import { LongText, ShortText } from '../parts/text.tsx'
import { Age, Time } from '../parts/time.tsx'
import { useLiveRun } from '../parts/use-live-run.ts'
import { useTitle } from '../parts/use-title.ts'
import { AboutTab } from './about-tab.tsx'
import { CompareTab } from './compare-tab.tsx'
import { RecordsTab } from './records-tab.tsx'
import type { RunRoute, RunTabProps } from './run-tab.ts'
import { Tab } from './shell.tsx'
import { UsageTab } from './usage-tab.tsx'
import { WindowTab } from './window-tab.tsx'

const NAMES: Readonly<Record<RunTab, string>> = {
  window: 'Window',
  compare: 'Compare',
  records: 'Records',
  usage: 'Usage',
  about: 'About',
}

const VIEWS: Readonly<Record<RunTab, (props: RunTabProps) => JSX.Element>> = {
  window: WindowTab,
  compare: CompareTab,
  records: RecordsTab,
  usage: UsageTab,
  about: AboutTab,
}

/** One run: its facts, and a tab for each way of looking at it. */
export function RunView({ route }: { readonly route: RunRoute }): JSX.Element {
  const { capabilities } = useSigned()
  const { value: run, error, again } = useLiveRun(route.run)
  useTitle(run?.title || route.run)
  const View = VIEWS[route.tab]
  const tabs = RUN_TABS.filter((tab) => tab !== 'usage' || capabilities.features.includes('usage'))
  return (
    <>
      {run ? <Facts run={run} /> : <h1>{route.run}</h1>}
      {error !== undefined && <Problem error={error} again={again} />}
      {!run && error === undefined && <Loading />}
      {run && (
        <>
          <nav class="tabs" aria-label="Ways to look at the run">
            {tabs.map((tab) => (
              <Tab key={tab} name={NAMES[tab]} isHere={tab === route.tab} to={{ ...route, tab, query: {} }} />
            ))}
          </nav>
          <View route={route} run={run} />
        </>
      )}
    </>
  )
}

/** What of a name stands in the heading. */
const NAME_CHARS = 160

function Facts({ run }: { readonly run: RunAnswer }): JSX.Element {
  const { run_id, title, task, agent_name, error, lease, unreadable_frames } = run
  const name = title || task || run_id
  return (
    <header class="run-head">
      <p class="under">
        <code>{run_id}</code>
        {agent_name && (
          <>
            {' · '}
            <ShortText text={agent_name} max={80} />
          </>
        )}
      </p>
      <h1>
        <ShortText text={name} max={NAME_CHARS} />
      </h1>
      {task && (task !== name || task.length > NAME_CHARS) && <LongText text={task} chars={280} lines={3} />}
      {error && (
        <div class="problem">
          <strong>The run ended with an error</strong>
          <LongText text={error} chars={400} lines={6} />
        </div>
      )}
      {unreadable_frames > 0 && (
        <p class="note warn">
          {count(unreadable_frames)} of {count(run.frames)} frames cannot be read; the records show which.
        </p>
      )}
      <dl class="facts">
        <Fact name="Status">
          <Status status={run.status} />
        </Fact>
        <Fact name="Stage">
          {run.current_stage === null ? NOTHING : <ShortText text={run.current_stage} max={40} />}
        </Fact>
        <Fact name="Iteration" isMinor>
          {count(run.iteration)}
        </Fact>
        <Fact name="Model" isMinor>
          {run.model === null ? NOTHING : <ShortText text={run.model} max={60} />}
        </Fact>
        <Fact name="Tokens in">
          <Tokens value={run.prompt_tokens} />
        </Fact>
        <Fact name="Tokens out">
          <Tokens value={run.completion_tokens} />
        </Fact>
        <Fact name="Tool calls" isMinor>
          {count(run.tool_calls)}
        </Fact>
        <Fact name="Owner">{lease ? <ShortText text={lease.machine_id} max={24} /> : 'nobody'}</Fact>
        <Fact name="Records" isMinor>
          {count(run.frames)}
        </Fact>
        <Fact name="Archive" isMinor>
          {bytes(run.tail)}
        </Fact>
        <Fact name="Started" isMinor>
          <Time at={run.started_at} />
        </Fact>
        <Fact name="Updated">
          <Age at={run.updated_at} />
        </Fact>
      </dl>
    </header>
  )
}

const Tokens = ({ value }: { readonly value: RunAnswer['prompt_tokens'] }) => (
  <span title={count(value)}>{compact(value)}</span>
)
