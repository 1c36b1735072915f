import { examples, type Verb } from '../command.ts'
import { oneLine } from '../terminal-text.ts'

export const rm: Verb = (program, act) =>
  program
    .command('rm <run...>')
    .summary('delete runs for good')
    .description('Deletes runs and their archives for good (scope admin).')
    .option('--force', 'also while someone holds a live lease')
    .addHelpText('after', examples('rm old-run', 'rm --force stuck-run'))
    .action(
      act(async ({ client, json, out }, runs: string[], { force }: { force?: boolean }) => {
        for (const run of runs) {
          await (await client()).remove(run, force)
          await (json ? out.json({ run_id: run, removed: true }) : out.line(`removed ${oneLine(run)}`))
        }
        return undefined
      }),
    )
