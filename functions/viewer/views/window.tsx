import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ContextSnapshot, Region } from '#schema'
import { count } from '../data/format.ts'
import { ShortText } from '../parts/text.tsx'
import { EntryView } from './entry.tsx'

interface WindowViewProps {
  readonly window: ContextSnapshot
  /** The regions that have a colour in the chart. */
  readonly names: readonly string[]
}

/** A context window, region by region. */
export function WindowView({ window, names }: WindowViewProps): JSX.Element {
  return (
    <div class="regions">
      {window.regions.length === 0 && <p class="note">No regions.</p>}
      {window.regions.map((region, n) => (
        <RegionView key={`${n} ${region.name}`} region={region} band={names.indexOf(region.name)} />
      ))}
    </div>
  )
}

const SHOWN_AT_FIRST = 4
const SHOWN_MORE = 50

function RegionView({ region, band }: { readonly region: Region; readonly band: number }): JSX.Element {
  const { name, kind, current_tokens, max_tokens, description } = region
  const entries = region.entries ?? []
  const [shown, setShown] = useState(SHOWN_AT_FIRST)
  const first = Math.max(0, entries.length - shown)
  return (
    <details class="region" open>
      <summary>
        <span class={`swatch band-${band < 0 ? 'rest' : band}`} />
        <strong>
          <ShortText text={name} max={60} />
        </strong>
        <span class="kind">
          <ShortText text={kind} max={40} />
        </span>
        <meter
          value={Number(current_tokens)}
          max={Math.max(1, Number(max_tokens))}
          aria-label="Tokens of the region's limit"
        />
        <span class="amount">
          {count(current_tokens)} of {count(max_tokens)} tokens · {count(entries.length)}{' '}
          {entries.length === 1 ? 'entry' : 'entries'}
        </span>
      </summary>
      {description && (
        <p class="help">
          <ShortText text={description} max={400} />
        </p>
      )}
      {first > 0 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + SHOWN_MORE)}>
          {first > SHOWN_MORE
            ? `Show ${SHOWN_MORE} of ${count(first)} earlier`
            : `Show the ${count(first)} earlier`}
        </button>
      )}
      <ol class="entries" start={first}>
        {entries.slice(first).map((entry, n) => (
          <EntryView key={first + n} entry={entry} />
        ))}
      </ol>
    </details>
  )
}
