import prettyBytes from 'pretty-bytes'
import { counted } from '../../counted.ts'
import type { Unread } from '../../daemon/sync/find.ts'
import { Summary } from '../../daemon/sync/summary.ts'
import type { SyncEvents } from '../../daemon/sync/sync.ts'
import { type SyncedSession, saySecrets } from '../../daemon/sync/sync-session.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'

/** Tells what one sync does: problems on standard error, the summary last on standard output. */
export const syncTeller = (
  { json, out, err }: Session,
  isDry: boolean,
): SyncEvents & { end(): Promise<ExitCode> } => {
  const summary = new Summary()
  const note = (text: string) => void err.line(oneLine(text))
  return {
    empty: (harness, folder) => note(`${harness}: there is a home at ${folder}, but no session in it`),
    unread: (what) => note(unreadText(what)),
    forgetful: (reason) => note(forgetfulText(reason)),
    synced: (session) => {
      summary.add(session)
      if (json) void out.json(rowOf(session))
      else for (const problem of session.problems) note(`${session.outcome}: ${nameOf(session)}: ${problem}`)
    },
    end: async () => {
      if (summary.secrets.size > 0) note(`secrets in what was new: ${saySecrets(summary.secrets)}`)
      if (isDry && !json) note('a dry run: nothing was sent, and this is what a sync would come to')
      const dry = isDry && { dry_run: true }
      if (json) await out.json({ summary: { ...summary.counts, bytes_sent: summary.bytes, ...dry } })
      else await out.line(summary.line)
      return summary.counts.failed > 0 ? EXIT.failed : EXIT.ok
    },
  }
}

/** Tells what a watch of sessions does, as it happens; what has been said of a session is not said again. */
export const sessionsTeller = ({ json, out }: Session): SyncEvents => {
  const said = new Map<string, string>()
  const asJson = json || !out.isTerminal
  const tell = (text: string, facts: object) => {
    const at = new Date().toISOString()
    if (asJson) void out.json({ at, ...facts })
    else void out.line(`${at.slice(11, 19)}  ${oneLine(text)}`)
  }
  const once = (key: string, text: string, facts: object) => {
    if (said.get(key) === text) return
    said.set(key, text)
    tell(text, facts)
  }
  return {
    found: ({ length: sessions }, homes) => {
      if (said.has('watching')) return
      const where = homes.length > 0 ? homes.join(', ') : 'no home of a coding agent; it is waited for'
      once('watching', `watching ${counted(sessions, 'session')} in ${where}`, {
        event: 'watching',
        sessions,
        homes,
      })
    },
    empty: (harness, folder) =>
      once(`empty ${folder}`, `${harness}: no session in ${folder}`, { event: 'empty', harness, folder }),
    unread: (what) => once(`unread ${what.source}`, unreadText(what), { event: 'unread', ...what }),
    forgetful: (reason) => once('forgetful', forgetfulText(reason), { event: 'forgetful', reason }),
    away: (reason) => once('away', `${reason}; it is waited for`, { event: 'away', reason }),
    synced: (session) => {
      const { bytes, isNew, problems } = session
      const name = nameOf(session)
      if (bytes > 0) {
        if (isNew) tell(`[new] ${name}`, { event: 'new', ...rowOf(session) })
        tell(`[archived] ${name} +${prettyBytes(bytes)}`, { event: 'archived', ...rowOf(session) })
      }
      const text = problems.join('; ')
      if (text || said.has(name))
        once(name, text || `${name}: in order again`, { event: 'problems', ...rowOf(session) })
    },
  }
}

const nameOf = ({ harness, id }: SyncedSession): string =>
  `${harness} ${id.length === 36 ? id.slice(0, 8) : id}`

const unreadText = ({ harness, source, reason }: Unread): string =>
  `${harness}: ${source} is left out: ${reason}`

const forgetfulText = (reason: string): string => `what was sent is not remembered: ${reason}`

const rowOf = ({ secrets, isNew, ...session }: SyncedSession) => ({
  ...session,
  is_new: isNew,
  secrets: Object.fromEntries(secrets),
})
