import { examples, runName, type Verb, wholeNumber } from '../command.ts'
import { PATH_NOTE, type PathOptions, pathsIn, withPathOptions } from '../resume/path-option.ts'
import { DEFAULT_FOLDER } from '../watch/runs-folder.ts'

interface ResumeCommandOptions extends PathOptions {
  readonly to: string
  readonly force?: boolean
  readonly wait?: number
}

export const resume: Verb = (program, act) => {
  const command = program
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
  withPathOptions(command)
    .addHelpText(
      'after',
      `\n${PATH_NOTE}\n${examples(
        'resume fix-login-7f3a',
        'resume fix-login-7f3a --to ~/agent/runs --workdir /home/ann=/home/bob',
        'resume fix-login-7f3a --force --agent-path ./agents/fixer',
      )}`,
    )
    .action(
      act(async (session, run: string, options: ResumeCommandOptions) => {
        const { to, force, wait } = options
        const { actResume } = await import('../resume/act-resume.ts')
        await actResume(session, run, { to, force: force === true, wait_s: wait, paths: pathsIn(options) })
        return undefined
      }),
    )
}
