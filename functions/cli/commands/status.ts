import prettyBytes from 'pretty-bytes'
import { counted } from '../../counted.ts'
import { stateFolderOf } from '../../daemon/identity.ts'
import type { ShippingStatus } from '../../daemon/status.ts'
import { examples, type Verb } from '../command.ts'
import { printTable } from '../table.ts'
import { wholeSeconds } from '../time.ts'
import { DEFAULT_FOLDER, runsFolder } from '../watch/runs-folder.ts'

interface StatusOptions {
  readonly behind?: boolean
}

export const status: Verb = (program, act) =>
  program
    .command('status [folder]')
    .summary('how far the runs of a watched folder are')
    .description(
      'Shows for every run of a folder what the server is known to have of it, what it lacks, and what is wrong. Needs no ' +
        'server, and says the same whether `runfold watch` is running or not.',
    )
    .option('--behind', 'only runs that lack something on the server, or have trouble')
    .addHelpText(
      'after',
      `\nThe folder is ${DEFAULT_FOLDER} when none is given.\n${examples(
        'status',
        'status --behind',
        'status ~/agent/runs --json | jq .lag_bytes',
      )}`,
    )
    .action(
      act(async ({ io, out, json }, folder: string | undefined, { behind }: StatusOptions) => {
        const [{ statusOf }, { isWatched }] = await Promise.all([
          import('../../daemon/status.ts'),
          import('../../daemon/watch/state-file.ts'),
        ])
        const runs = await runsFolder(io, folder)
        const state = await stateFolderOf(runs, io.env)
        const rows = chosen(statusOf(runs, state), behind === true)
        if (json) {
          for await (const row of rows) await out.json(row)
          return undefined
        }
        await printTable(out, COLUMNS, rows, behind ? 'everything is on the server' : `no runs in ${runs}`)
        if (!isWatched(state)) await out.line('no `runfold watch` is running on this folder')
        return undefined
      }),
    )

async function* chosen(
  rows: AsyncIterable<ShippingStatus>,
  onlyBehind: boolean,
): AsyncGenerator<ShippingStatus> {
  for await (const row of rows) if (!onlyBehind || row.lag_bytes > 0 || row.trouble) yield row
}

const COLUMNS = [
  { title: 'RUN', value: (row: ShippingStatus) => row.run_id },
  { title: 'ARCHIVED', value: (row: ShippingStatus) => prettyBytes(row.archived_bytes), align: 'right' },
  {
    title: 'FILE',
    value: ({ file_bytes }: ShippingStatus) => (file_bytes === null ? 'gone' : prettyBytes(file_bytes)),
    align: 'right',
  },
  { title: 'LAG', value: (row: ShippingStatus) => prettyBytes(row.lag_bytes), align: 'right' },
  { title: 'SENT', value: ({ sent_at }: ShippingStatus) => sent_at && wholeSeconds(sent_at) },
  { title: 'TROUBLE', value: (row: ShippingStatus) => troubleOf(row), width: 200 },
] as const

const troubleOf = ({ trouble, torn_bytes }: ShippingStatus): string => {
  if (trouble) return `${trouble.code}: ${trouble.detail}`
  return torn_bytes > 0 ? `${counted(torn_bytes, 'byte is', 'bytes are')} no whole frame yet` : ''
}
