import type { ListedSession } from '#schema'
import type { Message, SessionFields } from './document-stream.ts'
import type { Redact } from './redact.ts'
import { redactedMessages } from './redacted-messages.ts'
import { factsOf, type Part, sayProblem } from './transcript.ts'

// One file that needs nothing else and does nothing: no script, and a policy that lets none run and nothing be fetched.

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace;margin:.3rem 0}
article{border-top:1px solid #8886;padding:.8rem 0}h2{font-size:.85rem;font-weight:600;margin:0 0 .3rem;opacity:.75}
details{border-inline-start:3px solid #8886;padding-inline-start:.8rem;margin:.4rem 0}.text{white-space:pre-wrap;overflow-wrap:anywhere}
.failed>summary{color:#c33}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;font-size:.9rem}dd{margin:0;overflow-wrap:anywhere}`

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

export async function* htmlOf(
  entry: ListedSession,
  messages: AsyncIterable<Message>,
  fields: () => SessionFields,
  redact: Redact,
): AsyncGenerator<string> {
  const safe = async (text: string) => escaped(await redact(text))
  const title = await safe(entry.title)
  yield `<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${POLICY}">\n`
  yield `<meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>\n<body><h1 dir="auto">${title}</h1>\n<dl>`
  for (const [name, value] of factsOf(entry)) yield `<dt>${name}</dt><dd dir="auto">${await safe(value)}</dd>`
  yield '</dl>'
  for await (const { heading, parts } of redactedMessages(messages, redact)) {
    yield `\n<article><h2>${escaped(heading)}</h2>`
    for (const part of parts) yield shown(part)
    yield '</article>'
  }
  const { problems = [] } = fields()
  if (problems.length > 0) yield '\n<h2>Problems</h2><ul>'
  for (const problem of problems) yield `<li>${await safe(sayProblem(problem))}</li>`
  if (problems.length > 0) yield '</ul>'
  yield '\n</body></html>\n'
}

const shown = (part: Part): string => {
  const text = escaped(part.text)
  switch (part.as) {
    case 'text':
      return `<div class="text" dir="auto">${text}</div>`
    case 'thinking':
      return `<details><summary>thinking</summary><pre dir="auto">${text}</pre></details>`
    case 'call':
      return `<details><summary>${escaped(part.name)}</summary><pre>${text}</pre></details>`
    case 'result':
      return `<details${part.isError ? ' class="failed"' : ''}><summary>${escaped(part.name)} ${part.isError ? 'failed' : 'answered'}</summary><pre dir="auto">${text}</pre></details>`
    case 'placeholder':
      return `<p>${text}</p>`
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Markup as text; controls that HTML may not hold become the replacement character. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
    .replaceAll(/\p{Cc}/gu, (char) => ('\t\n\r'.includes(char) ? char : '\ufffd'))
