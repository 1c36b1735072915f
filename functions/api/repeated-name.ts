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
 * The path of the first member whose name stood before in the same object, however it is spelled; undefined where there
 * is none. Readers differ in which of the two they believe, so what was meant cannot be known.
 *
 * @param text JSON that was parsed before: its grammar is not looked at again
 */
export function repeatedName(text: string): string | undefined {
  const open: Level[] = []
  for (const [token] of text.matchAll(TOKENS)) {
    const level = open.at(-1)
    if (token === '{') open.push({ names: new Set(), at: '', isNaming: true })
    else if (token === '[') open.push({ names: undefined, at: 0, isNaming: false })
    else if (token === '}' || token === ']') open.pop()
    else if (level === undefined) return undefined
    else if (token === ':') level.isNaming = false
    else if (token === ',') {
      level.isNaming = level.names !== undefined
      if (typeof level.at === 'number') level.at++
    } else if (level.isNaming) {
      level.at = JSON.parse(token) as string
      if (level.names?.has(level.at)) return pathOf(open)
      level.names?.add(level.at)
    }
  }
  return undefined
}

/** Deep or long ones are cut: the answer must not grow with the request. */
const pathOf = (open: readonly Level[]): string =>
  open
    .slice(-8)
    .map(({ at }) => String(at).slice(0, SHOWN))
    .join('.')
