/**
 * JSON text with line ends and indents, and otherwise character for character as it came: numbers keep their digits, keys
 * their order, strings their escapes. Nothing is parsed, so nothing can be lost.
 *
 * @param json one well-formed value
 */
export function pretty(json: string): string {
  const out: string[] = []
  let depth = 0
  let last = ''
  const line = () => out.push('\n', '  '.repeat(depth))
  for (const token of tokensOf(json)) {
    const closes = token === '}' || token === ']'
    if (closes) depth--
    if (last === '{' || last === '[' || last === ',' || closes) {
      const isEmpty = closes && (last === '{' || last === '[')
      if (!isEmpty) line()
    }
    if (token === '{' || token === '[') depth++
    out.push(token === ':' ? ': ' : token)
    last = token
  }
  return out.join('')
}

const PLAIN = /[^\s{}[\],:"]+/y

/** Brackets, colons, commas, strings with their quotes, numbers and words; blanks between them fall away. */
function* tokensOf(json: string): Generator<string> {
  for (let at = 0; at < json.length; ) {
    const char = json[at] as string
    let end = at + 1
    if (char === '"') end = endOfString(json, at)
    else if (!'{}[],:'.includes(char)) {
      PLAIN.lastIndex = at
      end = at + (PLAIN.exec(json)?.[0].length ?? 0)
      if (end === at) {
        at++ // a blank
        continue
      }
    }
    yield json.slice(at, end)
    at = end
  }
}

/** No regular expression: strings of many megabytes full of escapes exhaust its stack. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = json.indexOf('"', at)
    if (quote < 0) return json.length
    let slashes = 0
    while (json[quote - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return quote + 1
    at = quote + 1
  }
}
