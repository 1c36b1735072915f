import type { JSX } from 'preact'
import { RECORD_KINDS, type RecordItem } from '#schema'
import { bytes, count } from '../data/format.ts'
import { recordText } from '../data/record-text.ts'
import { hashOf, numberIn, withQuery } from '../data/route.ts'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { ShortText } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { useLoad } from '../parts/use-load.ts'
import { navigate } from '../parts/use-route.ts'
import { RecordView } from './record.tsx'
import type { RunRoute, RunTabProps } from './run-tab.ts'

const PAGE = 50

/** The records in the order they were written, or one of them whole. */
export function RecordsTab({ route, run }: RunTabProps): JSX.Element {
  const seq = numberIn(route.query, 'seq')
  return seq === undefined ? (
    <Records route={route} run={run} />
  ) : (
    <RecordView key={seq} route={route} run={run} seq={seq} />
  )
}

function Records({ route, run }: RunTabProps): JSX.Element {
  const { query } = route
  const from = numberIn(query, 'from')
  const asked = { from, kind: query.kind, cursor: query.cursor, limit: PAGE }
  // A page that is not full may fill; older ones never change, however the run grows.
  const page = useLoad(JSON.stringify(asked), (client) => client.records(run.run_id, asked))
  const end = page.value?.items.at(-1)?.seq
  const isBehind = page.value?.next_cursor === null && (end ?? -1) < run.frames - 1
  return (
    <section aria-label="Records" aria-busy={page.isLoading}>
      <KindFilter route={route} frames={run.frames} />
      <p class="news" role="status">
        {isBehind && (
          <button type="button" onClick={page.again}>
            Show newer records
          </button>
        )}
      </p>
      {page.error !== undefined && <Problem error={page.error} again={page.again} />}
      {!page.value && page.isLoading && <Loading />}
      {page.value && <RecordRows route={route} items={page.value.items} />}
      <nav class="pages" aria-label="Pages">
        {(query.cursor !== undefined || from !== undefined) && (
          <a href={hashOf(withQuery(route, { cursor: undefined, from: undefined }))}>First records</a>
        )}
        {page.value?.next_cursor != null && (
          <a href={hashOf(withQuery(route, { cursor: page.value.next_cursor }))} rel="next">
            Next page
          </a>
        )}
        <a
          href={hashOf(withQuery(route, { cursor: undefined, from: String(Math.max(0, run.frames - PAGE)) }))}
        >
          Newest records
        </a>
      </nav>
    </section>
  )
}

function KindFilter({ route, frames }: { readonly route: RunRoute; readonly frames: number }): JSX.Element {
  const chosen = new Set(route.query.kind?.split(',') ?? [])
  const toggle = (kind: string) => {
    if (!chosen.delete(kind)) chosen.add(kind)
    const kinds = RECORD_KINDS.filter((one) => chosen.has(one)).join(',')
    navigate(withQuery(route, { kind: kinds || undefined, cursor: undefined }), 'replace')
  }
  return (
    <fieldset class="kinds">
      <legend class="help">Kinds of the {count(frames)} records</legend>
      {RECORD_KINDS.map((kind) => (
        <button key={kind} type="button" aria-pressed={chosen.has(kind)} onClick={() => toggle(kind)}>
          {kind}
        </button>
      ))}
    </fieldset>
  )
}

function RecordRows({
  route,
  items,
}: {
  readonly route: RunRoute
  readonly items: readonly RecordItem[]
}): JSX.Element {
  if (items.length === 0) return <Note>No record here.</Note>
  return (
    <table class="records">
      <TableHead
        columns={[
          ['Record', 'number'],
          ['Kind'],
          ['What it says'],
          ['Size', 'number wide'],
          ['Time', 'number wide'],
        ]}
      />
      <tbody>
        {items.map((item) => (
          <tr key={item.seq}>
            <td class="number">
              <a href={hashOf({ ...route, query: { seq: String(item.seq) } })}>{count(item.seq)}</a>
            </td>
            <td>{item.kind ?? <span class="bad">unreadable</span>}</td>
            <td>
              <ShortText text={recordText(item).replaceAll(/\s+/g, ' ')} max={160} />
            </td>
            <td class="number wide">{bytes(item.length)}</td>
            <td class="number wide">
              <Time at={item.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
