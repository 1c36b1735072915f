import type { JSX } from 'preact'
import { bytes, count } from '../data/format.ts'
import { type Block, FOLDED_KINDS, type SessionMessage, SPEAKERS } from '../data/transcript.ts'
import { LongText, ShortText } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'

/** The address of the sub-agent that a tool call sent out. */
type AgentOf = (call: string) => string | undefined

interface MessageViewProps {
  readonly message: SessionMessage
  readonly number: number
  /** Of this very message. */
  readonly address: string
  readonly agentOf: AgentOf
}

/** A message of a transcript: who speaks, and block by block what. */
export function MessageView({ message, number, address, agentOf }: MessageViewProps): JSX.Element {
  const { kind, role, content, timestamp, model, usage } = message
  const body = content.map((block, n) => <BlockView key={n} block={block} agentOf={agentOf} />)
  return (
    <>
      <p class="entry-head">
        <a class="number-link" href={address}>
          {count(number)}
        </a>
        <strong>{SPEAKERS[kind] ?? <ShortText text={`${role} ${kind}`} max={60} />}</strong>
        {model !== undefined && (
          <span class="help">
            <ShortText text={model} max={60} />
          </span>
        )}
        {usage?.output_tokens !== undefined && (
          <span class="help">{String(usage.output_tokens)} tokens out</span>
        )}
        {timestamp !== undefined && (
          <span class="amount">
            <Time at={timestamp} />
          </span>
        )}
      </p>
      {FOLDED_KINDS.has(kind) ? (
        <details class="more">
          <summary>Show it</summary>
          {body}
        </details>
      ) : (
        body
      )}
    </>
  )
}

function BlockView({ block, agentOf }: { readonly block: Block; readonly agentOf: AgentOf }): JSX.Element {
  switch (block.type) {
    case 'text':
      return <LongText text={block.text} chars={4000} lines={40} />
    case 'thinking':
      return (
        <details class="more thinking">
          <summary>{block.redacted ? 'Thinking, withheld by the provider' : 'Thinking'}</summary>
          {block.text === '' ? (
            <p class="help">{block.encrypted === undefined ? 'It is empty.' : 'It is there, encrypted.'}</p>
          ) : (
            <LongText text={block.text} chars={4000} lines={40} />
          )}
        </details>
      )
    case 'tool_use':
      return <CallView block={block} agent={agentOf(block.id)} />
    case 'tool_result':
      return <ResultView block={block} />
    case 'image':
    case 'file':
      return <Placeholder block={block} />
    default:
      return <p class="help">a block of the unknown type {String((block as { type: unknown }).type)}</p>
  }
}

interface CallViewProps {
  readonly block: Extract<Block, { type: 'tool_use' }>
  readonly agent: string | undefined
}

const CallView = ({ block: { name, input }, agent }: CallViewProps) => (
  <div class="call">
    <p class="entry-head">
      <span class="entry-kind">
        calls <ShortText text={name} max={80} />
      </span>
      {agent !== undefined && <a href={agent}>what the sub-agent did</a>}
    </p>
    <LongText text={input} chars={800} lines={12} isCode />
  </div>
)

const ResultView = ({ block }: { readonly block: Extract<Block, { type: 'tool_result' }> }) => (
  <div class={`call ${block.is_error ? 'failed' : ''}`}>
    <p class="entry-head">
      <span class={`entry-kind ${block.is_error ? 'bad' : ''}`}>
        {block.is_error ? 'failed result of ' : 'result of '}
        <ShortText text={block.tool_name ?? block.tool_use_id} max={80} />
      </span>
      {block.file && (
        <span class="chip">
          the whole output is in <ShortText text={block.file.path} max={100} />, {bytes(block.file.bytes)}
        </span>
      )}
    </p>
    <LongText text={block.content} chars={800} lines={12} isCode />
  </div>
)

/** Images and files are named and never loaded: where they point to is a stranger's choice. */
const Placeholder = ({ block }: { readonly block: Extract<Block, { type: 'image' | 'file' }> }) => (
  <p class="placeholder">
    {block.type}
    {block.type === 'file' && block.name !== undefined && (
      <>
        {' '}
        <ShortText text={block.name} max={100} />
      </>
    )}
    {block.media_type !== undefined && (
      <>
        , <ShortText text={block.media_type} max={60} />
      </>
    )}
    {block.data_ref !== undefined && (
      <>
        , <ShortText text={block.data_ref} max={200} />
      </>
    )}
  </p>
)
