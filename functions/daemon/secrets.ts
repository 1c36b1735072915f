import { lintSource } from '@secretlint/core'
import { rules } from '@secretlint/secretlint-rule-preset-recommend'

/** A secret in a text: its family and where it stands, in UTF-16 units. Never what it is. */
export interface FoundSecret {
  readonly family: string
  readonly start: number
  /** exclusive */
  readonly end: number
}

/** Lets a comment in the text switch the others off: no text may say of itself that it is not to be looked at. */
const BY_COMMENTS = '@secretlint/secretlint-rule-filter-comments'
// A preset cannot be told to go without one of its rules, so each is named.
const CONFIG: Parameters<typeof lintSource>[0]['options']['config'] = {
  rules: rules.filter(({ meta }) => meta.id !== BY_COMMENTS).map((rule) => ({ id: rule.meta.id, rule })),
}

/** By secretlint's recommended rules, whatever the text says of them, in order of their places. */
export const secretsIn = async (content: string): Promise<readonly FoundSecret[]> => {
  const { messages } = await lintSource({
    source: { content, filePath: 'session', ext: '', contentType: 'text' },
    options: { config: CONFIG, noPhysicFilePath: true },
  })
  return messages
    .map(({ messageId, range: [start, end] }) => ({ family: messageId, start, end }))
    .sort((a, b) => a.start - b.start)
}
