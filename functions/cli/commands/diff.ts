import type { DiffAnswer } from '#schema'
import { examples, type Verb, wholeNumber } from '../command.ts'
import { plain } from '../plain.ts'
import { openReading } from '../reading/reading.ts'
import { printDelta } from '../window-text.ts'

export const diff: Verb = (program, act) =>
  program
    .command('diff')
    .summary('what changed in the window between two points')
    .description('Shows the delta that turns the window at one point into the window at another.')
    .argument('<run|file>', 'a run on the server, or a local archive')
    .argument('<from>', 'the first point', wholeNumber)
    .argument('<to>', 'the second point', wholeNumber)
    .addHelpText('after', examples('diff fix-login-7f3a 3 9', 'diff run.lvr 0 5 --json'))
    .action(
      act(async (session, target: string, from: number, to: number) => {
        const answer = await (await openReading(session, target)).diff(from, to)
        if (session.json) await session.out.json(answer)
        else await printDelta(session.out, plain<DiffAnswer>(answer).delta)
        return undefined
      }),
    )
