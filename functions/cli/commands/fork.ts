import { examples, runName, type Verb, wholeNumber } from '../command.ts'
import { type WorkerOptions, workerOf } from '../worker.ts'
import { printLease } from './lease.ts'

interface ForkOptions extends WorkerOptions {
  readonly seq: number
  readonly to: string
}

export const fork: Verb = (program, act) =>
  program
    .command('fork <run>')
    .summary('a new run that begins with the first records of another')
    .description(
      'Makes a new run of the first records of another, copied inside the storage, and takes its lease. Neither run ' +
        'ever changes the other. The same command by the same worker gives the same run again.',
    )
    .requiredOption('--seq <n>', 'how many records of the run', wholeNumber)
    .requiredOption('--to <id>', 'the run id of the new run', runName)
    .option('--machine <id>', 'instead of this machine’s own id')
    .option('--world <id>', 'instead of this machine’s own id')
    .addHelpText(
      'after',
      examples(
        'fork fix-login-7f3a --seq 120 --to fix-login-again',
        'fork fix-login-7f3a --seq 120 --to fix-login-again --json',
      ),
    )
    .action(
      act(async (session, run: string, options: ForkOptions) => {
        const { client, io, json, out } = session
        const worker = await workerOf(io, options)
        const answer = await (await client()).fork(run, { seq: options.seq, run_id: options.to, ...worker })
        await (json ? out.json(answer) : printLease(out, answer))
        return undefined
      }),
    )
