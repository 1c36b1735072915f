import { quoted } from '../quoted.ts'
import type { AdminToken } from './admin-token.ts'
import type { Login } from './login.ts'

interface Started {
  readonly url: string
  /** Where runs are kept. */
  readonly place: string
  readonly data: string
  readonly token: AdminToken
  readonly login: Pick<Login, 'code'>
  /** How the CLI is called here. */
  readonly cli: string
}

/** What a person needs to know and to type next. */
export function startMessage({ url, place, data, token, login, cli }: Started): string {
  const elsewhere = [
    ...(url === 'http://127.0.0.1:8080' ? [] : [`export RUNFOLD_URL=${url}`]),
    ...(token.place === 'RUNFOLD_ADMIN_TOKEN' ? ['export RUNFOLD_TOKEN="$RUNFOLD_ADMIN_TOKEN"'] : []),
    ...(data === './runfold-data' || token.place === 'RUNFOLD_ADMIN_TOKEN'
      ? []
      : [`export RUNFOLD_DATA=${quoted(data)}`]),
  ]
  const next = [...elsewhere, `${cli} demo run.lvr`, `${cli} push run.lvr`, `${cli} ls`]
  return [
    `runfold listens on ${url}, data in ${place}, token in ${token.place}`,
    `see it at ${url}/#login=${login.code} (this link signs in once, within two minutes); try`,
    ...next.map((line) => `  ${line}`),
  ].join('\n')
}
