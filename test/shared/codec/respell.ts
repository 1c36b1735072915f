import { encodeRecord, parseJson } from '#codec'
import { type JournalRecord, type Json, JsonNumber, type JsonObject } from '#schema'

/**
 * The same record in another spelling that a reader must take: members in any order, blanks, escapes, unknown fields.
 * `dice` decides.
 */
export function respell(record: JournalRecord, dice: Iterable<number>): Uint8Array {
  const rolls = dice[Symbol.iterator]()
  const roll = (sides: number) => (rolls.next().value as number) % sides
  const blank = () => ['', '', '', ' ', '\t', '\r\n'][roll(6)]
  const text = (value: string) =>
    JSON.stringify(value).replace(/[a-z/é]/g, (letter, at: number, whole: string) =>
      roll(8) === 0 && whole[at - 1] !== '\\' && !/\\u[0-9a-f]{0,3}$/.test(whole.slice(0, at))
        ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
        : letter,
    )
  const shuffled = <T>(list: T[]) => {
    for (let i = list.length - 1; i > 0; i--) {
      const j = roll(i + 1)
      ;[list[i], list[j]] = [list[j] as T, list[i] as T]
    }
    return list
  }
  /** `free` is where unknown fields would be values like any other. */
  const write = (value: Json, free: boolean): string => {
    if (typeof value === 'string') return text(value)
    if (value instanceof JsonNumber) return value.text
    if (Array.isArray(value))
      return `[${blank()}${value.map((item) => write(item, free)).join(`${blank()},${blank()}`)}]`
    if (typeof value !== 'object' || value === null) return String(value)
    const members = Object.entries(value as JsonObject).map(
      ([key, member]) => `${text(key)}${blank()}:${blank()}${write(member, free || isFree(key))}`,
    )
    if (!free && members.length > 1 && roll(4) === 0) members.push('"zz":{"at":[1e999,"\\ud800"]}')
    return `{${blank()}${shuffled(members).join(`${blank()},${blank()}`)}${blank()}}`
  }
  const [kind, body] = Object.entries(parseJson(encodeRecord(record)) as JsonObject)[0] as [string, Json]
  return new TextEncoder().encode(`${blank()}{${text(kind)}:${write(body, false)}}${blank()}`)
}

const isFree = (key: string) => key === 'metadata' || key === 'arguments' || key === 'schema'
