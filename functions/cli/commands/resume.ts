import { InvalidArgumentError } from 'commander'
import type { PathRule } from '../../daemon/resume/path-map.ts'
import { resumeRun } from '../../daemon/resume/resume.ts'
import { takeLease } from '../../daemon/resume/take-lease.ts'
import { examples, runName, type Verb, wholeNumber } from '../command.ts'
import { destinationOf, resumption } from '../resume/resumption.ts'
import { tellResumed } from '../resume/tell.ts'
import { oneLine } from '../terminal-text.ts'
import { DEFAULT_FOLDER } from '../watch/runs-folder.ts'

interface ResumeCommandOptions {
  readonly to: string
  readonly force?: boolean
  readonly wait?: number
  readonly workdir: readonly PathRule[]
  readonly agentPath: readonly PathRule[]
}

/** Collects what is given of one option. */
const rules =
  (field: PathRule['field']) =>
  (text: string, before: readonly PathRule[]): readonly PathRule[] => {
    const cut = text.indexOf('=')
    const [from, to] = cut < 0 ? [undefined, text] : [text.slice(0, cut), text.slice(cut + 1)]
    if (to === '' || from === '') throw new InvalidArgumentError('It must be OLD=NEW, or NEW.')
    return [...before, { field, from, to }]
  }

export const resume: Verb = (program, act) =>
  program
    .command('resume')
    .summary('bring a run to this machine, for a daemon to go on with')
    .description(
      'Takes the lease of a run, fetches its archive byte for byte, and writes the run’s folder as a daemon expects it: run.lvr, ' +
        'meta.json and context.json, of mode 0600. The archive is told who owns the run now. Where another holds the run it waits; ' +
        'the former owner’s next append is refused. Whatever cuts it off, the same command again completes it. Needs the scopes ' +
        'append, read and resume: the folder holds the run’s callback secret.',
    )
    .argument('<run>', 'the run', runName)
    .option('--to <folder>', 'the folder of runs, which `runfold watch` watches', DEFAULT_FOLDER)
    .option('--force', 'take the lease from its holder at once')
    .option('--wait <seconds>', 'how long to wait for the lease; default until it is free', wholeNumber)
    .option(
      '--workdir <old=new>',
      'where the working directory is here; may be given again',
      rules('workdir'),
      [],
    )
    .option('--agent-path <old=new>', 'where the agent is here; may be given again', rules('agent_path'), [])
    .addHelpText(
      'after',
      `\nOLD is the path of the other machine or a folder it is in; NEW alone stands for the whole path.\n${examples(
        'resume fix-login-7f3a',
        'resume fix-login-7f3a --to ~/agent/runs --workdir /home/ann=/home/bob',
        'resume fix-login-7f3a --force --agent-path ./agents/fixer',
      )}`,
    )
    .action(
      act(async (session, run: string, options: ResumeCommandOptions) => {
        const { to, force, wait, workdir, agentPath } = options
        const { err, signal } = session
        const destination = await destinationOf(session.io, to)
        const parts = await resumption(session, run, destination, [...workdir, ...agentPath])
        const take = () =>
          takeLease({
            client: parts.client,
            run,
            worker: destination.worker,
            signal,
            now: Date.now,
            onHeld: ({ machine_id, world_id, expires_at }) =>
              void err.line(
                `${oneLine(run)}: ${machine_id}/${world_id} has it until ${expires_at}; waiting, --force takes it`,
              ),
            ...(force && { force }),
            ...(wait !== undefined && { wait_s: wait }),
          })
        await tellResumed(session, await resumeRun({ ...parts, take }))
        return undefined
      }),
    )
