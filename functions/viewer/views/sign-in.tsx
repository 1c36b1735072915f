import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

interface SignInProps {
  readonly notice: string | undefined
  readonly onToken: (token: string) => void
}

/** Asks for a token; it goes to this tab's storage and nowhere else. */
export function SignIn({ notice, onToken }: SignInProps): JSX.Element {
  const [text, setText] = useState('')
  const isToken = /^[A-Za-z0-9._~+/-]+=*$/.test(text.trim())
  const submit = (event: Event) => {
    event.preventDefault()
    if (isToken) onToken(text.trim())
  }
  return (
    <main class="sign-in">
      <h1>runfold</h1>
      <p>See what the agent saw.</p>
      {notice && (
        <div class="problem" role="alert">
          {notice}
        </div>
      )}
      <form onSubmit={submit}>
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            aria-describedby="token-help"
          />
        </label>
        <p class="help" id="token-help">
          A token of scope <code>read</code> sees everything here; downloads need <code>resume</code>. On your
          own machine <code>npm start</code> prints a link that signs in by itself, and the first token stands
          in the data folder, in <code>admin-token</code>. It is kept in this tab only.
        </p>
        <button type="submit" class="primary" disabled={!isToken}>
          Sign in
        </button>
      </form>
    </main>
  )
}
