import { FOLD_PARTS, type FoldAnswer, type FoldPart, type RunMeta } from '#schema'
import { counted } from '../../counted.ts'
import { examples, moment, type Verb, wholeNumber, words } from '../command.ts'
import type { Output } from '../output.ts'
import { plain } from '../plain.ts'
import { withReading } from '../reading/reading.ts'
import { printFacts, printTable } from '../table.ts'
import { unixTime } from '../time.ts'
import { UsageError } from '../usage-error.ts'
import { printEntries, printRegions } from '../window-text.ts'

interface FoldOptions {
  readonly parts?: readonly FoldPart[]
  readonly seq?: number
  readonly point?: number
  readonly at?: number
  readonly entries?: boolean
}

export const fold: Verb = (program, act) =>
  program
    .command('fold <run|file>')
    .summary('the state of a run, now or at any moment')
    .description(
      'Folds a run on the server, or a local .lvr file without one, to its state: now or at a past moment.',
    )
    .option('--seq <n>', 'after this many frames', wholeNumber)
    .option('--point <n>', 'after this point', wholeNumber)
    .option(
      '--at <time>',
      'after the last record that is not newer than this: RFC 3339, or a Unix second',
      moment,
    )
    .option('--parts <list>', `only these parts: ${FOLD_PARTS.join(', ')}`, words(FOLD_PARTS))
    .option('--entries', 'print the window’s entries in full')
    .addHelpText(
      'after',
      examples(
        'fold fix-login-7f3a',
        'fold run.lvr --point 12 --entries',
        'fold fix-login-7f3a --at 2026-11-30T17:00:00Z',
        'fold run.lvr --parts meta --json',
      ),
    )
    .action(
      act(async (session, target: string, options: FoldOptions) => {
        const { parts, entries, ...when } = options
        if (Object.keys(when).length > 1) throw new UsageError('give at most one of --seq, --point and --at')
        return withReading(session, target, async (reading) => {
          const answer = await reading.fold(when, parts)
          if (session.json) await session.out.json(answer)
          else await printFold(session.out, plain<FoldAnswer>(answer), entries === true)
        })
      }),
    )

const printFold = async (
  out: Output,
  { run_id, seq, point, folded }: FoldAnswer,
  entries: boolean,
): Promise<void> => {
  const { identity, meta, context, messages, inference_usage, pending_batch } = folded
  await printFacts(out, [
    ['run', run_id],
    ['after', `${counted(seq, 'frame')}${point === null ? '' : `, point ${point}`}`],
    ['machine', identity && `${identity.machine_id}/${identity.world_id}`],
    ['agent', meta?.agent_name],
    ['title', meta?.title],
    ['status', meta?.status],
    ['error', meta?.error],
    ['stage', meta && stageText(meta)],
    ['iteration', meta?.iteration],
    ['updated', unixTime(meta?.updated_at)],
    ['inferences', folded.inference_count],
    ['tool calls', folded.tool_call_count],
    ['messages', messages?.length],
    ['usage records', inference_usage?.length],
  ])
  if (context) {
    await out.line()
    await (entries ? printEntries(out, context) : printRegions(out, context))
  }
  if (pending_batch) {
    await out.line(`\npending tool calls of iteration ${pending_batch.iteration}:`)
    await printTable(
      out,
      [
        { title: 'CALL', value: (call) => call.id },
        { title: 'TOOL', value: (call) => call.name },
        { title: 'RESULT', value: (call) => call.result, width: 60 },
      ],
      pending_batch.calls,
      'none',
    )
  }
}

/** An agent may have no stages. */
const stageText = ({ current_stage, stage_index, num_stages }: RunMeta): string =>
  Number(num_stages) === 0 ? current_stage : `${current_stage} (${BigInt(stage_index) + 1n} of ${num_stages})`
