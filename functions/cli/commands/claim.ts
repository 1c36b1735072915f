import { examples, type Verb, wholeNumber } from '../command.ts'
import { PATH_NOTE, type PathOptions, pathsIn, withPathOptions } from '../resume/path-option.ts'
import { DEFAULT_FOLDER } from '../watch/runs-folder.ts'

interface ClaimCommandOptions extends PathOptions {
  readonly exec: string
  readonly to: string
  readonly can?: string
  readonly loop?: boolean
  readonly wait?: number
}

export const claim: Verb = (program, act) => {
  const command = program
    .command('claim')
    .summary('carry on whatever run waits for a machine, with a command')
    .description(
      'Takes a run that is not finished and that nobody holds, brings it here as `resume` does, and runs a command on it. What ' +
        'the command appends to run.lvr is sent as it comes; the lease is kept while the command lives and given back when it ends. ' +
        'When another takes the run, the command is ended. Needs the scopes append and resume.',
    )
    .requiredOption('--exec <command>', 'the command line, run by a shell in the run’s folder')
    .option('--to <folder>', 'the folder of runs', DEFAULT_FOLDER)
    .option(
      '--can <list>',
      'what this machine can do, such as gpu,docker; runs that require more are left alone',
    )
    .option('--loop', 'go on with the next run, until Ctrl-C or SIGTERM')
    .option('--wait <seconds>', 'how long to wait for a run; default until there is one', wholeNumber)
  withPathOptions(command)
    .addHelpText(
      'after',
      `
The command finds RUNFOLD_RUN_ID, RUNFOLD_RUN_FOLDER, RUNFOLD_EPOCH,
RUNFOLD_MACHINE_ID and RUNFOLD_WORLD_ID in its environment.
${PATH_NOTE}
${examples(
  'claim --exec "my-daemon --run ."',
  'claim --loop --can gpu,docker --to /srv/runs --exec ./carry-on.sh',
)}`,
    )
    .action(
      act(async (session, options: ClaimCommandOptions) => {
        const { exec, to, can, loop, wait } = options
        const { actClaim } = await import('../resume/act-claim.ts')
        return actClaim(session, {
          exec,
          to,
          capabilities: can === undefined ? [] : can.split(',').filter(Boolean),
          isLoop: loop === true,
          wait_s: wait,
          paths: pathsIn(options),
        })
      }),
    )
}
