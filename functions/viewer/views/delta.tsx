import type { JSX } from 'preact'
import type { ContextDelta, ContextSnapshot, Entry, RegionDelta } from '#schema'
import { count } from '../data/format.ts'
import { Note } from '../parts/problem.tsx'
import { ShortText } from '../parts/text.tsx'
import { EntryView } from './entry.tsx'
import { WindowView } from './window.tsx'

interface DeltaViewProps {
  readonly change: {
    readonly delta: ContextDelta
    /** In place of a delta, where regions share a name and none could say it. */
    readonly context?: ContextSnapshot | undefined
  }
}

/** What leads from one window to another, an operation a row. */
export function DeltaView({ change: { delta, context } }: DeltaViewProps): JSX.Element {
  if (context) {
    return (
      <>
        <Note>Several regions share a name, so the change is shown as the window it leads to.</Note>
        <WindowView window={context} names={[]} />
      </>
    )
  }
  if (delta.regions.length === 0)
    return <Note>No region changed; the window holds {count(delta.total_tokens)} tokens.</Note>
  return (
    <ul class="operations">
      {delta.regions.map((operation, n) => (
        <Operation key={n} operation={operation} />
      ))}
    </ul>
  )
}

function Operation({ operation }: { readonly operation: RegionDelta }): JSX.Element {
  const { sign, tone, name, text, entries } = told(operation)
  return (
    <li class={`operation ${tone}`}>
      <p class="entry-head">
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
        <strong>
          <ShortText text={name} max={60} />
        </strong>
        <span>{text}</span>
      </p>
      {entries.length > 0 && <Entries entries={entries} />}
    </li>
  )
}

interface Told {
  readonly sign: string
  readonly tone: 'added' | 'rewritten' | 'cleared'
  readonly name: string
  readonly text: string
  readonly entries: readonly Entry[]
}

function told(operation: RegionDelta): Told {
  if ('Append' in operation) {
    const { name, entries = [], current_tokens } = operation.Append
    const text = `gained ${amount(entries)}, now ${count(current_tokens)} tokens`
    return { sign: '+', tone: 'added', name, text, entries }
  }
  if ('Set' in operation) {
    const { name, entries = [], current_tokens } = operation.Set
    const text = `was written anew with ${amount(entries)}, ${count(current_tokens)} tokens`
    return { sign: '=', tone: 'rewritten', name, text, entries }
  }
  if ('Clear' in operation) {
    return { sign: '−', tone: 'cleared', name: operation.Clear.name, text: 'was cleared', entries: [] }
  }
  return { sign: '−', tone: 'cleared', name: operation.Remove.name, text: 'was removed', entries: [] }
}

const amount = (entries: readonly Entry[]) =>
  `${count(entries.length)} ${entries.length === 1 ? 'entry' : 'entries'}`

const SHOWN = 10

const Entries = ({ entries }: { readonly entries: readonly Entry[] }) => (
  <details class="more" open={entries.length <= 3}>
    <summary>{entries.length > SHOWN ? `The last ${SHOWN} of ${amount(entries)}` : amount(entries)}</summary>
    <ol class="entries" start={Math.max(0, entries.length - SHOWN)}>
      {entries.slice(-SHOWN).map((entry, n) => (
        <EntryView key={n} entry={entry} />
      ))}
    </ol>
  </details>
)
