import type { Verb } from '../command.ts'
import { EXIT_MEANINGS } from '../exit-codes.ts'

const table = Object.entries(EXIT_MEANINGS)
  .map(([code, meaning]) => `${code.padStart(5)}  ${meaning}\n`)
  .join('')

export const exitCodes: Verb = (program, act) => {
  const command = program
    .command('exit-codes', { hidden: true })
    .description('Prints what the exit codes mean.')
  command.helpInformation = () => `Exit codes:\n${table}`
  command.action(
    act(async ({ out, json }) => {
      await (json ? out.json(EXIT_MEANINGS) : out.line(table.trimEnd()))
      return undefined
    }),
  )
}
