import type { RecordItem } from '#schema'
import { examples, type Verb, wholeNumber } from '../command.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { cut } from '../text-width.ts'
import { unixTime } from '../time.ts'
import { gist } from './records.ts'

interface TailOptions {
  readonly follow?: boolean
  readonly lines: number
}

export const tail: Verb = (program, act) =>
  program
    .command('tail <run>')
    .summary('the newest records of a run, and those that come')
    .description(
      'Prints the newest records of a run on the server. With -f it goes on with those that come, until you stop it or ' +
        'the run is deleted; what comes while the connection is lost is not missed.',
    )
    .option('-f, --follow', 'go on with the records that come')
    .option('-n, --lines <n>', 'begin with so many of the newest records', wholeNumber, 10)
    .addHelpText(
      'after',
      examples(
        'tail fix-login-7f3a',
        'tail -f fix-login-7f3a',
        'tail -f -n 0 fix-login-7f3a --json | jq .kind',
      ),
    )
    .action(
      act(async (session, run: string, { follow, lines }: TailOptions) => {
        const client = await session.client()
        const { frames, tail } = await client.run(run)
        let end = tail
        for await (const item of client.recordLines(run, { from: Math.max(0, frames - lines) })) {
          await print(session, item)
          end = item.offset + item.length
        }
        if (follow) for await (const item of client.follow(run, end)) await print(session, item)
        return undefined
      }),
    )

/** More of a text is looked at than any terminal shows, and less than a record may hold. */
const WIDTH = 400

const print = ({ out, json }: Session, item: RecordItem): Promise<void> => {
  if (json) return out.json(item)
  const kind = item.kind ?? `unreadable: ${item.unreadable}`
  const time = unixTime(item.at) ?? ''
  const text = oneLine(gist(item).slice(0, 4 * WIDTH))
  const line = `${String(item.seq).padStart(6)}  ${time.padEnd(20)}  ${oneLine(kind).padEnd(17)}  ${text}`
  return out.line(cut(line.trimEnd(), out.isTerminal ? out.columns : WIDTH))
}
