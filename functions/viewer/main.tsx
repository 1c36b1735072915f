import './jitless.ts'
import './style.css'
import { render } from 'preact'
import { clientOf } from './api.ts'
import { App } from './app.tsx'
import { keptToken, linkProblem, signInByLink } from './session.ts'

let notice: string | undefined
const token = await signInByLink((code) => clientOf(undefined).login(code)).catch((error: unknown) => {
  notice = linkProblem(error)
  return undefined
})
render(<App token={token ?? keptToken()} notice={notice} />, document.body)
