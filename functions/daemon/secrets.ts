import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'

/** A secret in a text: its family and where it stands, in UTF-16 units. Never what it is. */
export interface FoundSecret {
  readonly family: string
  readonly start: number
  /** exclusive */
  readonly end: number
}

const PRESET = '@secretlint/secretlint-rule-preset-recommend'
const CONFIG: Parameters<typeof lintSource>[0]['options']['config'] = {
  rules: [{ id: PRESET, rule: creator }],
}

/** By secretlint's recommended rules, in order of their places. */
export const secretsIn = async (content: string): Promise<readonly FoundSecret[]> => {
  const { messages } = await lintSource({
    source: { content, filePath: 'session', ext: '', contentType: 'text' },
    options: { config: CONFIG, noPhysicFilePath: true },
  })
  return messages
    .map(({ messageId, range: [start, end] }) => ({ family: messageId, start, end }))
    .sort((a, b) => a.start - b.start)
}
