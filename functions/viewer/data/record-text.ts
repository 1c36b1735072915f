import type { RecordItem } from '#schema'
import { count, spoken } from './format.ts'

/** A record in a line, for lists; empty where its kind says it all. */
export function recordText({ record, unreadable }: RecordItem): string {
  if (record === null) return unreadable ?? 'cannot be read'
  if ('Header' in record) return record.Header.meta.task
  if ('OwnershipChanged' in record) return `handed to ${record.OwnershipChanged.machine_id}`
  if ('Inference' in record) return record.Inference.response.content
  if ('InferenceUsage' in record) {
    const { model, prompt_tokens, completion_tokens } = record.InferenceUsage
    return `${model}: ${count(prompt_tokens)} tokens in, ${count(completion_tokens)} out`
  }
  if ('ToolBatch' in record) return record.ToolBatch.calls.map(({ name }) => name).join(', ')
  if ('ToolCallDone' in record) return `${record.ToolCallDone.call_id}: ${record.ToolCallDone.result}`
  if ('ContextCheckpoint' in record) return windowText(record.ContextCheckpoint.snapshot)
  if ('ContextDiff' in record) return deltaText(record.ContextDiff.delta)
  if ('Message' in record) return `${record.Message.message.role}: ${record.Message.message.content}`
  if ('StatusChanged' in record) return spoken(record.StatusChanged.status)
  if ('Checkpoint' in record) return windowText(record.Checkpoint.context)
  if ('Progress' in record) return deltaText(record.Progress.delta)
  return ''
}

const windowText = ({
  regions,
  total_tokens,
}: {
  regions: readonly unknown[]
  total_tokens: number | bigint
}) => `the window anew: ${regions.length} regions, ${count(total_tokens)} tokens`

const deltaText = ({ regions }: { regions: readonly object[] }): string =>
  regions
    .map((operation) => {
      const [[word, { name }] = ['', { name: '' }]] = Object.entries(operation) as [
        string,
        { name: string },
      ][]
      return `${WORDS[word] ?? word} ${name}`
    })
    .join(', ') || 'no region changed'

const WORDS: Readonly<Record<string, string>> = {
  Append: 'adds to',
  Set: 'rewrites',
  Clear: 'clears',
  Remove: 'removes',
}
