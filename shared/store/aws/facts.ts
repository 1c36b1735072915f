import type { ObjectFacts } from '../ports.ts'

/** One header holds all facts: names of metadata lose their case, and values everything but plain ASCII. */
const NAME = 'runfold'

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

export const metadataOf = (facts: ObjectFacts): Record<string, string> => ({
  [NAME]: JSON.stringify(facts).replace(/[^ -~]/g, escaped),
})

/** An object of another writer has no facts of ours. */
export const factsOf = (metadata: Record<string, string> | undefined): ObjectFacts =>
  JSON.parse(metadata?.[NAME] ?? '{}')
