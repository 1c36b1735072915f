// A view for others: what is archived keeps every byte.

/** Text with its secrets named instead of shown. */
export type Redact = (text: string) => Promise<string>

export const asItIs: Redact = async (text) => text

/** One line of a canonical document: at most one string value stands in it, at its end. */
export const redactLine = async (line: string, redact: Redact): Promise<string> => {
  const [, before, literal, comma] = /^(\s*(?:"(?:[^"\\]|\\.)*": )?)("(?:[^"\\]|\\.)*")(,?)$/.exec(line) ?? []
  if (before === undefined || literal === undefined) return line
  const text = JSON.parse(literal) as string
  const redacted = await redact(text)
  return redacted === text ? line : `${before}${JSON.stringify(redacted)}${comma}`
}
