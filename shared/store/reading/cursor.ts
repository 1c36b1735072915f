import { digestOf, loadDigest } from '../../codec/index.ts'
import { RunfoldError } from '../../schema/index.ts'

/** Where a page goes on, such as a seq and its offset, or a time and a run_id. */
export type Position = readonly (number | string)[]

/** What a cursor belongs to: the run, its life, the route and the question asked. Any other refuses it. */
export type Binding = readonly unknown[]

const CHECK_DIGITS = 16
/** A position may hold a name of some hundred characters. */
const MAX_LETTERS = 1600

/**
 * base64url of the position and a check over it and its binding. The check is no secret: it keeps cursors of other
 * questions, of other lives and of mistaken hands apart, and a position made up by a patient reader shows nothing that
 * reading on would not.
 */
export async function writeCursor(binding: Binding, position: Position): Promise<string> {
  const text = JSON.stringify([...position, await check(binding, position)])
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Throws `bad_request` for any text that writeCursor did not make with this binding. */
export async function readCursor<P extends Position = readonly number[]>(
  binding: Binding,
  text: string,
  isPosition: (value: readonly unknown[]) => boolean = isNumbers,
): Promise<P> {
  const position = decode<P>(text, isPosition)
  if (position && text === (await writeCursor(binding, position))) return position
  throw new RunfoldError('bad_request', 'the cursor was not made by this server for this question', {
    issues: [{ path: 'cursor', message: 'a next_cursor of the same question, unchanged' }],
  })
}

const isNumbers = (value: readonly unknown[]) => value.every((part) => Number.isSafeInteger(part))

function decode<P extends Position>(
  text: string,
  isPosition: (value: readonly unknown[]) => boolean,
): P | undefined {
  if (text.length > MAX_LETTERS || !/^[\w-]+$/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
    if (!Array.isArray(value)) return undefined
    const position: unknown[] = value.slice(0, -1)
    return isPosition(position) ? (position as unknown as P) : undefined
  } catch {
    return undefined
  }
}

async function check(binding: Binding, position: Position): Promise<string> {
  await loadDigest()
  return digestOf(new TextEncoder().encode(JSON.stringify([binding, position]))).slice(0, CHECK_DIGITS)
}
