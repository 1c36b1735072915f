import type { ListedSession } from '#schema'
import type { Message, SessionFields } from './document-stream.ts'
import type { Redact } from './redact.ts'
import { redactedMessages } from './redacted-messages.ts'
import { factsOf, type Part, sayProblem } from './transcript.ts'

/**
 * A transcript in Markdown, piece by piece. Texts of the session stand in fences or as quotes, so none becomes a heading, and
 * none is HTML, loads a picture or runs a script, whatever renders it.
 */
export async function* markdownOf(
  entry: ListedSession,
  messages: AsyncIterable<Message>,
  fields: () => SessionFields,
  redact: Redact,
): AsyncGenerator<string> {
  const shownInline = async (text: string) => inline(await redact(text))
  yield `# ${await shownInline(entry.title)}\n\n`
  for (const [name, value] of factsOf(entry)) yield `- ${name}: ${await shownInline(value)}\n`
  yield '\n'
  for await (const { heading, parts } of redactedMessages(messages, redact)) {
    yield `\n## ${inline(heading)}\n`
    for (const part of parts) yield `\n${shown(part)}\n`
  }
  const { problems = [], agents = [] } = fields()
  if (agents.length > 0) yield '\n## Sub-agents\n\n'
  for (const { id, description = '' } of agents) yield `- ${await shownInline(`${id} ${description}`)}\n`
  if (problems.length > 0) yield '\n## Problems\n\n'
  for (const problem of problems) yield `- ${await shownInline(sayProblem(problem))}\n`
}

const shown = (part: Part): string => {
  const { text } = part
  switch (part.as) {
    case 'text':
      return ACTIVE.test(text) ? fenced(text) : text.replaceAll(/^/gm, '> ')
    case 'thinking':
      return `*thinking*\n\n${fenced(text)}`
    case 'call':
      return `**${inline(part.name)}**\n\n${fenced(text, 'json')}`
    case 'result':
      return `**${inline(part.name)}** ${part.isError ? 'failed' : 'answered'}\n\n${fenced(text)}`
    case 'placeholder':
      return inline(text)
  }
}

/** HTML, pictures, links that run, and references that may spell one of these. */
const ACTIVE = /<[a-z/!?]|!\[|(?:javascript|vbscript|data)\s*:|\]\s*[(:[].*&/i

/** Longer than any fence in it, so that nothing breaks out. */
const fenced = (text: string, language = ''): string => {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

const inline = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]<>#|!]/g, '\\$&')
