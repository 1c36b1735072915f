import { examples, type Verb } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/** Commander's own `help` takes one word, so that of `help lease acquire` it would show the group only. */
export const help: Verb = (program, act) =>
  program
    .command('help [command...]')
    .summary('explain a command')
    .description('Explains a command, or names them all.')
    .addHelpText('after', examples('help fold', 'help lease acquire', 'help exit-codes'))
    .action(
      act(async (_session, words: readonly string[]) => {
        let command = program
        for (const word of words) {
          const next = command.commands.find((each) => each.name() === word)
          if (!next)
            throw new UsageError(`there is no command ${words.join(' ')}; runfold help names them all`)
          command = next
        }
        command.outputHelp()
        return undefined
      }),
    )
