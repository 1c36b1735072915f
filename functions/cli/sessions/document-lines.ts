import { randomUUID } from 'node:crypto'
import { parseJson } from '#codec'
import { JsonNumber } from '#schema'

// Lines of a canonical document (SESSIONS.md 2): each holds one name, one value that is no object or array, or a bracket.

/** The JSON value that these lines spell; a comma behind it is passed over. */
export const valueIn = <T>(lines: readonly string[]): T => {
  const mark = `${randomUUID()} `
  let areAside = false
  const readable = lines.map((line) => {
    const number = hugeNumberIn(line)
    if (number === undefined) return line
    areAside = true
    return line.replace(/,$/, '').slice(0, -number.length) + JSON.stringify(mark + number) + comma(line)
  })
  const value: unknown = parseJson(readable.join('\n').replace(/,$/, ''))
  return (areAside ? restored(value, mark) : value) as T
}

const comma = (line: string): string => (line.endsWith(',') ? ',' : '')

/** One that no double holds, such as 1E400: records may have it, but `parseJson` takes none. */
const hugeNumberIn = (line: string): string | undefined => {
  const number = line.slice(line.lastIndexOf(' ') + 1).replace(/,$/, '')
  return /^-?\d[-+.eE\d]*$/.test(number) && !Number.isFinite(Number(number)) ? number : undefined
}

const restored = (value: unknown, mark: string): unknown => {
  if (typeof value === 'string')
    return value.startsWith(mark) ? new JsonNumber(value.slice(mark.length)) : value
  if (Array.isArray(value)) return value.map((item) => restored(item, mark))
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return value
  const object: Record<string, unknown> = Object.create(null)
  for (const [name, member] of Object.entries(value)) object[name] = restored(member, mark)
  return object
}

/** A line cut behind each of its strings, quotes and all: every second piece is one. */
export const cutAtStrings = (line: string): string[] => {
  const pieces: string[] = []
  let from = 0
  for (let start = line.indexOf('"'); start >= 0; start = line.indexOf('"', from)) {
    const end = endOfString(line, start)
    pieces.push(line.slice(from, start), line.slice(start, end))
    from = end
  }
  pieces.push(line.slice(from))
  return pieces
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Behind the closing quote. A pattern would remember every letter, and there are strings of many million. */
const endOfString = (line: string, start: number): number => {
  for (let at = start + 1; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at++
  }
  return line.length
}
