import type { JSX } from 'preact'
import { jsonText } from '#codec'
import type { FoldAnswer, LeaseState } from '#schema'
import { bytes, count, NOTHING } from '../data/format.ts'
import { pretty } from '../data/pretty.ts'
import { hashOf } from '../data/route.ts'
import { Fact } from '../parts/fact.tsx'
import { Loading, Note, Problem } from '../parts/problem.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { LongText, ShortText } from '../parts/text.tsx'
import { Age, Time } from '../parts/time.tsx'
import { useLoad } from '../parts/use-load.ts'
import { Download } from './download.tsx'
import type { RunTabProps } from './run-tab.ts'

/** What is known of a run besides its window: where it is kept, who has had it, what it says of itself. */
export function AboutTab({ run }: RunTabProps): JSX.Element {
  const lease = useLoad<LeaseState>(`${run.run_id} ${run.epoch} ${run.lease?.machine_id}`, (client) =>
    client.leaseState(run.run_id),
  )
  const meta = useLoad<FoldAnswer>(`${run.run_id} ${run.epoch} ${run.status}`, (client) =>
    client.fold(run.run_id, { parts: ['identity', 'meta', 'pending_batch'] }),
  )
  return (
    <div class="about">
      <section aria-label="The archive">
        <h2>The archive</h2>
        <dl class="facts">
          <Fact name="Bytes">{count(run.tail)}</Fact>
          <Fact name="Records">{count(run.frames)}</Fact>
          <Fact name="Points">{count(run.points)}</Fact>
          <Fact name="Unreadable">{count(run.unreadable_frames)}</Fact>
          <Fact name="Stored">
            {bytes(run.stored.bytes)} in {count(run.stored.objects)}{' '}
            {run.stored.objects === 1 ? 'object' : 'objects'}
          </Fact>
          <Fact name="Made">
            <Time at={run.created_at} />
          </Fact>
          <Fact name="Changed">
            <Age at={run.changed_at} />
          </Fact>
          {run.parent_run_id && (
            <Fact name="Parent">
              <a href={hashOf({ view: 'run', run: run.parent_run_id, tab: 'window', query: {} })}>
                <ShortText text={run.parent_run_id} max={80} />
              </a>
            </Fact>
          )}
          <Fact name="Sub-runs">
            <a href={hashOf({ view: 'runs', query: { parent: run.run_id } })}>those it has started</a>
          </Fact>
          <Fact name="SHA-256">
            <code class="digest">{run.digest}</code>
          </Fact>
        </dl>
        <Download run={run} />
      </section>
      <section aria-label="Lease history">
        <h2>Who has had it</h2>
        {lease.error !== undefined && <Problem error={lease.error} again={lease.again} />}
        {!lease.value && lease.isLoading && <Loading />}
        {lease.value && <History state={lease.value} />}
      </section>
      <section aria-label="Header">
        <h2>What it says of itself</h2>
        {meta.error !== undefined && <Problem error={meta.error} again={meta.again} />}
        {meta.value && (
          <LongText text={pretty(jsonText(meta.value.folded))} chars={6000} lines={120} isCode />
        )}
      </section>
    </div>
  )
}

function History({ state: { lease, epoch, history } }: { readonly state: LeaseState }): JSX.Element {
  if (history.length === 0) return <Note>Nobody yet.</Note>
  return (
    <table>
      <TableHead columns={[['Epoch', 'number'], ['Machine'], ['World', 'wide'], ['Came by it'], ['Since']]} />
      <tbody>
        {history.map((transfer) => (
          <tr key={transfer.epoch}>
            <td class="number">{count(transfer.epoch)}</td>
            <td>
              <ShortText text={transfer.machine_id} max={40} />
              {lease && transfer.epoch === epoch && (
                <span class="help">
                  {' '}
                  holds it, expires <Age at={lease.expires_at} />
                </span>
              )}
            </td>
            <td class="wide">
              <ShortText text={transfer.world_id || NOTHING} max={40} />
            </td>
            <td>{REASONS[transfer.reason]}</td>
            <td>
              <Time at={transfer.from} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const REASONS: Readonly<Record<LeaseState['history'][number]['reason'], string>> = {
  acquired: 'it was free',
  expired: 'after it expired',
  released: 'after a release',
  forced: 'by force',
}
