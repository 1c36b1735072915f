import prettyBytes from 'pretty-bytes'
import { counted } from '../../counted.ts'
import { examples, type Verb } from '../command.ts'
import { printFacts } from '../table.ts'
import { unixTime } from '../time.ts'

export const show: Verb = (program, act) =>
  program
    .command('show <run>')
    .summary('show a run: its card, lease and storage')
    .description('Shows what is known of a run without reading its archive.')
    .addHelpText('after', examples('show fix-login-7f3a', 'show fix-login-7f3a --json'))
    .action(
      act(async ({ client, json, out }, id: string) => {
        const run = await (await client()).run(id)
        if (json) {
          await out.json(run)
          return undefined
        }
        const { lease, stored } = run
        await printFacts(out, [
          ['run', run.run_id],
          ['title', run.title],
          ['task', run.task],
          ['agent', run.agent_name],
          ['model', run.model],
          ['status', run.status],
          ['error', run.error],
          ['stage', run.current_stage],
          ['iteration', run.iteration],
          ['parent', run.parent_run_id],
          ['machine', run.machine_id && `${run.machine_id}/${run.world_id}`],
          ['started', unixTime(run.started_at)],
          ['updated', unixTime(run.updated_at)],
          ['tokens', tokens(run)],
          ['tool calls', run.tool_calls],
          [
            'archive',
            `${counted(run.tail, 'byte')}, ${counted(run.frames, 'frame')}, ${counted(run.points, 'point')}`,
          ],
          ['unreadable', run.unreadable_frames > 0 ? counted(run.unreadable_frames, 'frame') : null],
          ['digest', run.digest],
          ['stored', `${counted(stored.objects, 'object')}, ${prettyBytes(stored.bytes)}`],
          ['epoch', run.epoch],
          ['lease', lease ? `${lease.machine_id}/${lease.world_id} until ${lease.expires_at}` : 'free'],
          ['created', run.created_at],
          ['changed', run.changed_at],
        ])
        return undefined
      }),
    )

const tokens = (run: {
  prompt_tokens: unknown
  completion_tokens: unknown
  cached_tokens: unknown
}): string | null =>
  run.prompt_tokens === null
    ? null
    : `${run.prompt_tokens} prompt, ${run.completion_tokens} completion, ${run.cached_tokens} cached`
