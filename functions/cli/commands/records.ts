import { RECORD_KINDS, type RecordItem, type RecordKind } from '#schema'
import { examples, type Verb, wholeNumber, words } from '../command.ts'
import type { Output } from '../output.ts'
import { plain } from '../plain.ts'
import { withReading } from '../reading/reading.ts'
import { printTable } from '../table.ts'
import { unixTime } from '../time.ts'

interface RecordsOptions {
  readonly from?: number
  readonly to?: number
  readonly kind?: readonly RecordKind[]
}

export const records: Verb = (program, act) =>
  program
    .command('records <run|file>')
    .summary('the records of a run, a line each')
    .description('Lists the records of a run, or of a local .lvr file. With --json the whole record a line.')
    .option('--from <seq>', 'begin at this record', wholeNumber)
    .option('--to <seq>', 'end before this record', wholeNumber)
    .option('--kind <list>', `only these kinds: ${RECORD_KINDS.join(', ')}`, words(RECORD_KINDS))
    .addHelpText(
      'after',
      examples(
        'records run.lvr',
        'records fix-login-7f3a --kind ToolBatch,ToolCallDone --json',
        'records run.lvr --from 40 --to 60',
      ),
    )
    .action(
      act(async (session, target: string, { from, to, kind }: RecordsOptions) => {
        const wanted = {
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          ...(kind && { kinds: kind }),
        }
        return withReading(session, target, async (reading) => {
          const items = reading.records(wanted)
          if (session.json) for await (const item of items) await session.out.json(item)
          else await printRecords(session.out, items as AsyncIterable<RecordItem>)
        })
      }),
    )

const printRecords = (out: Output, items: AsyncIterable<RecordItem>): Promise<void> =>
  printTable<RecordItem>(
    out,
    [
      { title: 'SEQ', value: (row) => row.seq, align: 'right' },
      { title: 'OFFSET', value: (row) => row.offset, align: 'right' },
      { title: 'LENGTH', value: (row) => row.length, align: 'right' },
      { title: 'AT', value: (row) => unixTime(row.at) },
      { title: 'KIND', value: (row) => row.kind ?? `unreadable: ${row.unreadable}`, width: 60 },
      { title: 'WHAT', value: gist, width: 80 },
    ],
    items,
    'no records',
  )

/** The one thing a person looks for in a record of this kind. */
export const gist = (item: RecordItem): string => {
  if (item.record === null) return ''
  const record = plain<NonNullable<RecordItem['record']>>(item.record)
  if ('Header' in record) return record.Header.meta.title ?? record.Header.meta.task
  if ('StatusChanged' in record) return record.StatusChanged.status
  if ('OwnershipChanged' in record)
    return `${record.OwnershipChanged.machine_id}/${record.OwnershipChanged.world_id}`
  if ('Inference' in record) return record.Inference.response.content
  if ('InferenceUsage' in record) {
    const { model, prompt_tokens, completion_tokens } = record.InferenceUsage
    return `${model}: ${prompt_tokens} prompt, ${completion_tokens} completion`
  }
  if ('ToolBatch' in record) return record.ToolBatch.calls.map((call) => call.name).join(', ')
  if ('ToolCallDone' in record) return `${record.ToolCallDone.call_id}: ${record.ToolCallDone.result}`
  if ('Message' in record) return `${record.Message.message.role}: ${record.Message.message.content}`
  if ('ContextCheckpoint' in record) return windowed(record.ContextCheckpoint.snapshot)
  if ('Checkpoint' in record) return windowed(record.Checkpoint.context)
  if ('ContextDiff' in record) return changed(record.ContextDiff.delta.regions)
  return `${record.Progress.meta.status}, ${changed(record.Progress.delta.regions)}`
}

const windowed = ({ regions }: { readonly regions: readonly { readonly name: string }[] }): string =>
  regions.map(({ name }) => name).join(', ')

const changed = (operations: readonly object[]): string =>
  operations
    .flatMap((operation) => Object.entries(operation))
    .map(([kind, { name }]) => `${kind} ${name}`)
    .join(', ')
