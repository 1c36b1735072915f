import type { ContextSnapshot, DiffAnswer } from '#schema'
import { examples, type Verb, wholeNumber } from '../command.ts'
import type { Output } from '../output.ts'
import { plain } from '../plain.ts'
import { withReading } from '../reading/reading.ts'
import { printDelta, printRegions } from '../window-text.ts'

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
      act((session, target: string, from: number, to: number) =>
        withReading(session, target, async (reading) => {
          const answer = await reading.diff(from, to)
          if (session.json) await session.out.json(answer)
          else await printDiff(session.out, plain(answer))
        }),
      ),
    )

/** Beside a delta that loses something, several regions of one name, stands the whole second window. */
type Change = DiffAnswer & { readonly context?: ContextSnapshot }

const printDiff = async (out: Output, { delta, context }: Change): Promise<void> => {
  await printDelta(out, delta)
  if (!context) return
  await out.line('a delta cannot say all of it; afterwards it is this:')
  await printRegions(out, context)
}
