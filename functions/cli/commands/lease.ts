import type { LeaseAnswer, LeaseState } from '#schema'
import { counted } from '../../counted.ts'
import { countingNumber, examples, type Verb, wholeNumber } from '../command.ts'
import type { Output } from '../output.ts'
import { printFacts, printTable } from '../table.ts'
import { oneLine } from '../terminal-text.ts'
import { type WorkerOptions, workerOf } from '../worker.ts'

interface AcquireOptions extends WorkerOptions {
  readonly ttl?: number
  readonly wait?: number
  readonly force?: boolean
}

export const lease: Verb = (program, act) => {
  const group = program
    .command('lease')
    .summary('show, acquire, renew and release the right to append')
    .description('The lease is the right to append to a run; its epoch fences off every earlier holder.')

  group
    .command('show <run>')
    .summary('show who holds a run, and who did')
    .description('Shows who holds the run, and who did before.')
    .addHelpText('after', examples('lease show fix-login-7f3a'))
    .action(
      act(async ({ client, json, out }, run: string) => {
        const state = await (await client()).leaseState(run)
        if (json) {
          await out.json(state)
          return undefined
        }
        const held = state.lease
        await printFacts(out, [
          ['epoch', state.epoch],
          ['holder', held ? `${held.machine_id}/${held.world_id}` : 'nobody'],
          ['expires', held?.expires_at],
        ])
        await out.line()
        await printTable(
          out,
          [
            { title: 'EPOCH', value: (row) => row.epoch, align: 'right' },
            { title: 'MACHINE', value: (row) => row.machine_id },
            { title: 'WORLD', value: (row) => row.world_id },
            { title: 'FROM', value: (row) => row.from },
            { title: 'TAKEN', value: (row) => WAYS[row.reason] },
          ],
          state.history,
          'no history',
        )
        return undefined
      }),
    )

  group
    .command('acquire <run>')
    .summary('take the lease of a run')
    .description(
      'Takes the lease; a run that is not there yet is made. The same worker asking again keeps its epoch.',
    )
    .option('--machine <id>', 'instead of this machine’s own id')
    .option('--world <id>', 'instead of this machine’s own id')
    .option('--ttl <seconds>', 'how long it lasts without an append or renewal', countingNumber)
    .option('--wait <seconds>', 'wait for it, 20 at most', wholeNumber)
    .option('--force', 'take it from its holder at once (scope resume)')
    .addHelpText(
      'after',
      examples('lease acquire fix-login-7f3a --ttl 120', 'lease acquire fix-login-7f3a --force'),
    )
    .action(
      act(async ({ client, io, json, out }, run: string, options: AcquireOptions) => {
        const { ttl, wait, force } = options
        const answer = await (await client()).acquire(run, {
          ...(await workerOf(io, options)),
          ...(ttl !== undefined && { ttl_s: ttl }),
          ...(wait !== undefined && { wait_s: wait }),
          ...(force && { force }),
        })
        await (json ? out.json(answer) : printLease(out, answer))
        return undefined
      }),
    )

  group
    .command('renew <run>')
    .summary('prolong a lease')
    .description('Prolongs the lease of an epoch.')
    .requiredOption('--epoch <n>', 'the epoch that acquire gave', wholeNumber)
    .option('--ttl <seconds>', 'how long it lasts from now', countingNumber)
    .addHelpText('after', examples('lease renew fix-login-7f3a --epoch 3'))
    .action(
      act(async ({ client, json, out }, run: string, { epoch, ttl }: { epoch: number; ttl?: number }) => {
        const answer = await (await client()).renew(run, { epoch, ...(ttl !== undefined && { ttl_s: ttl }) })
        await (json ? out.json(answer) : printLease(out, answer))
        return undefined
      }),
    )

  group
    .command('release <run>')
    .summary('give a lease back')
    .description('Gives the lease back; appends of that epoch are refused from then on.')
    .requiredOption('--epoch <n>', 'the epoch that acquire gave', wholeNumber)
    .addHelpText('after', examples('lease release fix-login-7f3a --epoch 3'))
    .action(
      act(async ({ client, json, out }, run: string, { epoch }: { epoch: number }) => {
        await (await client()).release(run, epoch)
        await (json ? out.json({ run_id: run, epoch, released: true }) : out.line(`released ${oneLine(run)}`))
        return undefined
      }),
    )
}

/** How a holder came by the lease: said without the words that read as if they told how it ended. */
const WAYS: Readonly<Record<LeaseState['history'][number]['reason'], string>> = {
  acquired: 'as it was free',
  expired: 'after it had ended',
  released: 'after it was given back',
  forced: 'by force',
}

export const printLease = (out: Output, answer: LeaseAnswer): Promise<void> =>
  printFacts(out, [
    ['run', answer.run_id],
    ['epoch', answer.epoch],
    ['holder', `${answer.lease.machine_id}/${answer.lease.world_id}`],
    ['expires', answer.lease.expires_at],
    ['before', answer.previous && `${answer.previous.machine_id}/${answer.previous.world_id}`],
    [
      'archive',
      `${counted(answer.tail, 'byte')}, ${counted(answer.frames, 'frame')}, ${counted(answer.points, 'point')}`,
    ],
    ['digest', answer.digest],
  ])
