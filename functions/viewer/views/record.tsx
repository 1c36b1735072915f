import type { JSX } from 'preact'
import type { RecordItem } from '#schema'
import { bytes, count } from '../data/format.ts'
import { pretty } from '../data/pretty.ts'
import { hashOf } from '../data/route.ts'
import { Fact } from '../parts/fact.tsx'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { LongText, ShortText } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { useLoad } from '../parts/use-load.ts'
import { FrameBytes } from './frame-bytes.tsx'
import type { RunRoute, RunTabProps } from './run-tab.ts'

interface RecordViewProps extends RunTabProps {
  readonly seq: number
}

/** One record whole: the JSON as the server spelled it, indented and otherwise untouched. */
export function RecordView({ route, run, seq }: RecordViewProps): JSX.Element {
  const what = `${run.run_id} ${seq}`
  const item = useLoad(
    what,
    async (client) => (await client.records(run.run_id, { from: seq, to: seq + 1 })).items[0],
  )
  const text = useLoad(what, (client) => client.recordText(run.run_id, seq))
  const error = item.error ?? text.error
  const isMissing = !item.isLoading && item.value === undefined && error === undefined
  return (
    <section class="record" aria-label={`Record ${seq}`}>
      <nav class="pages" aria-label="Records">
        <a href={hashOf({ ...route, query: {} })}>All records</a>
        {seq > 0 && <RecordLink route={route} seq={seq - 1} text="Record before" />}
        {seq < run.frames - 1 && <RecordLink route={route} seq={seq + 1} text="Next record" />}
      </nav>
      <h2>Record {count(seq)}</h2>
      {error !== undefined && (
        <Problem error={error} again={item.error === undefined ? text.again : item.again} />
      )}
      {isMissing && <Note>The run has {count(run.frames)} records; this is not one of them.</Note>}
      {!item.value && item.isLoading && <Loading />}
      {item.value && <Facts item={item.value} />}
      {item.value?.record === null && <FrameBytes run={run.run_id} item={item.value} />}
      {text.value && <LongText text={pretty(text.value)} chars={20_000} lines={400} isCode />}
    </section>
  )
}

const Facts = ({ item }: { readonly item: RecordItem }) => (
  <dl class="facts">
    <Fact name="Kind">{item.kind ?? <span class="bad">unreadable</span>}</Fact>
    {item.unreadable !== undefined && (
      <Fact name="Why">
        <ShortText text={item.unreadable} max={300} />
      </Fact>
    )}
    <Fact name="Offset">{count(item.offset)}</Fact>
    <Fact name="Size">{bytes(item.length)}</Fact>
    <Fact name="Time">
      <Time at={item.at} />
    </Fact>
  </dl>
)

interface RecordLinkProps {
  readonly route: RunRoute
  readonly seq: number
  readonly text: string
}

const RecordLink = ({ route, seq, text }: RecordLinkProps) => (
  <a href={hashOf({ ...route, query: { seq: String(seq) } })}>{text}</a>
)
