import type { Issue } from './issues.ts'

/** Strings and the signs of JSON's grammar; words and numbers between them do not matter here. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]/gs

/** An object or array that is open; of an array only how far it is. */
interface Level {
  readonly names: Set<string> | undefined
  /** The member that is read, or the index of the item. */
  at: string | number
  /** Whether a string here is a name. */
  isNaming: boolean
}

const SHOWN = 100

/**
 * The first thing that is JSON but not I-JSON (RFC 7493), because readers differ in what they take it for:
 *
 * - a member whose name stood before in the same object, however it is spelled. Which of the two was meant cannot be known;
 * - half of a surrogate pair, `"\ud800"`. It has no UTF-8, so what is stored of it is another text, or cannot be read again.
 *
 * @param text JSON that was parsed before: its grammar is not looked at again
 */
export function notIJson(text: string): Issue | undefined {
  const open: Level[] = []
  for (const [token] of text.matchAll(TOKENS)) {
    const level = open.at(-1)
    if (token.includes('\\u') && !stringOf(token).isWellFormed()) {
      return {
        path: pathOf(level?.isNaming ? open.slice(0, -1) : open),
        message: 'holds half a surrogate pair',
      }
    }
    if (token === '{') open.push({ names: new Set(), at: '', isNaming: true })
    else if (token === '[') open.push({ names: undefined, at: 0, isNaming: false })
    else if (token === '}' || token === ']') open.pop()
    else if (level === undefined) return undefined
    else if (token === ':') level.isNaming = false
    else if (token === ',') {
      level.isNaming = level.names !== undefined
      if (typeof level.at === 'number') level.at++
    } else if (level.isNaming) {
      level.at = stringOf(token)
      if (level.names?.has(level.at)) return { path: pathOf(open), message: 'is there twice' }
      level.names?.add(level.at)
    }
  }
  return undefined
}

const stringOf = (token: string) => JSON.parse(token) as string

/** Deep or long ones are cut: the answer must not grow with the request. */
const pathOf = (open: readonly Level[]): string =>
  open
    .slice(-8)
    .map(({ at }) => String(at).slice(0, SHOWN))
    .join('.')
