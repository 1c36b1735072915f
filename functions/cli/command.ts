import { type Command, InvalidArgumentError } from 'commander'
import { givenTime, RUN_ID_RULE, runId } from '#schema'
import type { ExitCode } from './exit-codes.ts'
import type { Session } from './session.ts'

/** Turns the work of a command into a commander action: opens the session and keeps the exit code. */
export type Act = <Args extends unknown[]>(
  work: (session: Session, ...args: Args) => Promise<ExitCode | undefined>,
) => (...args: Args) => Promise<void>

/** Adds one command to the program. */
export type Verb = (program: Command, act: Act) => void

/** A run id, judged here where a HEAD answer could not say what is wrong with it, or a file is named after it. */
export const runName = (text: string): string => {
  if (runId.safeParse(text).success) return text
  throw new InvalidArgumentError(`A run id is ${RUN_ID_RULE}.`)
}

/** An option that takes a whole number from 0 on. */
export const wholeNumber = (text: string): number => {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number
  throw new InvalidArgumentError('It must be a whole number, 0 or more.')
}

/** An option that takes a whole number from 1 on. */
export const countingNumber = (text: string): number => {
  const number = wholeNumber(text)
  if (number > 0) return number
  throw new InvalidArgumentError('It must be a whole number, 1 or more.')
}

/** An option that takes a Unix second, which may be negative, or the time that other commands print for one. */
export const moment = (text: string): number => {
  const number = Number(text)
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(number)) return number
  if (givenTime.safeParse(text).success) return Math.floor(Date.parse(text) / 1000)
  throw new InvalidArgumentError('It must be a Unix second, or a time such as 2026-11-30T17:00:00Z.')
}

/** An option that takes a comma list of known words. */
export const words =
  <const Word extends string>(known: readonly Word[]) =>
  (text: string): readonly Word[] => {
    const list = text.split(',') as Word[]
    const unknown = list.find((word) => !known.includes(word))
    if (unknown === undefined) return list
    throw new InvalidArgumentError(`"${unknown}" is none of ${known.join(', ')}.`)
  }

/** The examples below a help text. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ runfold ${line}\n`).join('')}`
