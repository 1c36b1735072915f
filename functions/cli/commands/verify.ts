import type { VerifyAnswer } from '#schema'
import { counted } from '../../counted.ts'
import { examples, type Verb, wholeNumber } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { plain } from '../plain.ts'
import { openReading } from '../reading/reading.ts'
import { printFacts, printTable } from '../table.ts'

export const verify: Verb = (program, act) =>
  program
    .command('verify <run|file>')
    .summary('read every byte and say whether it is sound')
    .description(
      'Reads every byte of a run on the server, or of a local .lvr file, and reports what is damaged.',
    )
    .option('--from <offset>', 'begin at this frame boundary', wholeNumber)
    .option('--to <offset>', 'end at this frame boundary', wholeNumber)
    .addHelpText('after', examples('verify fix-login-7f3a', 'verify run.lvr && echo sound'))
    .action(
      act(async (session, target: string, { from, to }: { from?: number; to?: number }) => {
        const { out, json } = session
        const answer = await (await openReading(session, target)).verify(from, to)
        const verdict = plain<VerifyAnswer>(answer)
        const code = verdict.ok ? undefined : EXIT.damaged
        if (json) {
          await out.json(answer)
          return code
        }
        await printFacts(out, [
          verdict.ok ? ['verdict', 'sound', 'green'] : ['verdict', 'damaged', 'red'],
          ['bytes', verdict.bytes],
          ['frames', verdict.frames],
          [
            'unreadable',
            verdict.unreadable_frames
              ? `${counted(verdict.unreadable_frames, 'frame')}, kept as written`
              : null,
          ],
          ['digest', verdict.digest],
        ])
        if (!verdict.ok)
          await printTable(
            out,
            [
              { title: 'OFFSET', value: (row) => row.offset, align: 'right' },
              { title: 'LENGTH', value: (row) => row.length, align: 'right' },
              { title: 'CODE', value: (row) => row.code },
              { title: 'DETAIL', value: (row) => row.detail, width: 80 },
            ],
            verdict.problems,
            'no details',
          )
        return code
      }),
    )
