import { examples, type Verb } from '../command.ts'
import { tryEach } from '../each.ts'
import { oneLine } from '../terminal-text.ts'

export const rm: Verb = (program, act) =>
  program
    .command('rm <run...>')
    .summary('delete runs for good')
    .description('Deletes runs and their archives for good (scope admin).')
    .option('--force', 'also while someone holds a live lease')
    .addHelpText('after', examples('rm old-run', 'rm --force stuck-run'))
    .action(
      act(async (session, runs: string[], { force }: { force?: boolean }) => {
        const { client, json, out } = session
        const remove = async (run: string) => {
          await (await client()).remove(run, force)
          await (json ? out.json({ run_id: run, removed: true }) : out.line(`removed ${oneLine(run)}`))
          return undefined
        }
        const [run = ''] = runs
        if (runs.length === 1) return remove(run)
        return (await tryEach(session, runs, { work: remove, key: 'run_id', nameOf: (run) => run })).code
      }),
    )
