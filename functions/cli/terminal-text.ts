// Text of records is data of strangers: an escape sequence in a title must not move the reader's cursor, and a
// direction mark must not turn a line around.

/** Control characters, direction marks, line and paragraph separators, and the byte order mark. */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/gu

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** One line of harmless text: tabs and line ends become blanks, everything else that is not to be seen an escape. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\t\n\r]+/g, ' ').replaceAll(HARMFUL, escaped)

/** Harmless text of several lines. */
export const manyLines = (text: string): string =>
  text.replaceAll(HARMFUL, (char) => (char === '\n' || char === '\t' ? char : escaped(char)))

/** The same JSON, its strings spelled so that a terminal can show them. Line ends between values stay. */
export const harmlessJson = (json: string): string =>
  json.replaceAll(HARMFUL, (char) => (char === '\n' ? char : escaped(char)))
