import type { ComponentChildren, JSX } from 'preact'
import { isRunfoldError, PROBLEMS } from '#schema'

interface ProblemProps {
  readonly error: unknown
  readonly again?: () => void
}

/** Why something cannot be shown, and what can be done about it. */
export function Problem({ error, again }: ProblemProps): JSX.Element {
  const { title, text } = explained(error)
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      <p>{text}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Something to read while there is nothing else. */
export const Note = ({ children }: { readonly children: ComponentChildren }) => <p class="note">{children}</p>

export const Loading = ({ what = 'Loading' }: { readonly what?: string }) => (
  <p class="note" role="status">
    {what}…
  </p>
)

function explained(error: unknown): { title: string; text: string } {
  if (!isRunfoldError(error)) {
    return {
      title: 'Something failed in this page',
      text: error instanceof Error ? error.message : String(error),
    }
  }
  const { code, message, facts } = error
  const { title } = PROBLEMS[code]
  switch (code) {
    case 'unauthorized':
      return { title, text: `${message}. Sign in again.` }
    case 'forbidden':
      return { title, text: `${sentence(message)} ${ofScope(facts.scope)}` }
    case 'not_found':
      return { title, text: `${sentence(message)} It may have been deleted, or belongs to someone else.` }
    case 'unavailable':
      return {
        title: 'The server does not answer',
        text: `${sentence(message)} It is tried again when you ask.`,
      }
    default:
      return { title, text: sentence(message) }
  }
}

const ofScope = (scope: unknown) =>
  typeof scope === 'string'
    ? `Whoever runs this server can make one: runfold token make NAME --scopes ${scope.replaceAll(' or ', ',')}.`
    : 'Sign in with another token to see it.'

const sentence = (text: string) =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
