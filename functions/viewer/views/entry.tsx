import type { JSX } from 'preact'
import { jsonText } from '#codec'
import type { Entry, EntryCall } from '#schema'
import { count } from '../data/format.ts'
import { pretty } from '../data/pretty.ts'
import { LongText, ShortText } from '../parts/text.tsx'

/** An entry of the window: what it is, what it weighs, and its text. */
export function EntryView({ entry }: { readonly entry: Entry }): JSX.Element {
  const { content, tokens, kind, key, taint, metadata } = entry
  const calls = kind?.type === 'AssistantTurn' ? kind.tool_calls : []
  return (
    <li class="entry">
      <p class="entry-head">
        <span class={`entry-kind ${kind?.type === 'ToolResult' && kind.is_error ? 'bad' : ''}`}>
          {kindOf(entry)}
        </span>
        {key !== null && key !== undefined && (
          <span class="chip" title="key">
            <ShortText text={key} max={60} />
          </span>
        )}
        <span class={`chip taint-${taint}`} title="taint">
          {taint}
        </span>
        <span class="amount">{count(tokens)} tokens</span>
      </p>
      {content !== '' && <LongText text={content} />}
      {calls.map((call, n) => (
        <CallView key={n} call={call} />
      ))}
      {metadata !== null && metadata !== undefined && (
        <details class="more">
          <summary>Metadata</summary>
          <LongText text={pretty(jsonText(metadata))} isCode />
        </details>
      )}
    </li>
  )
}

function kindOf({ kind }: Entry): JSX.Element {
  switch (kind?.type) {
    case 'UserMessage':
      return <>user</>
    case 'AssistantTurn':
      return <>assistant</>
    case 'ToolResult':
      return (
        <>
          {kind.is_error ? 'failed result of ' : 'result of '}
          <ShortText text={kind.tool_name} max={60} />
        </>
      )
    case undefined:
    case 'Text':
      return <>text</>
    default:
      return <ShortText text={String((kind as { type: unknown }).type)} max={60} />
  }
}

/** A tool call, its arguments as they stand in the record. */
const CallView = ({ call }: { readonly call: EntryCall }) => (
  <div class="call">
    <p class="entry-head">
      <span class="entry-kind">
        calls <ShortText text={call.name} max={60} />
      </span>
      <code class="chip">
        <ShortText text={call.id} max={40} />
      </code>
    </p>
    <LongText text={pretty(jsonText(call.arguments))} chars={600} lines={10} isCode />
  </div>
)
