import type { Finding } from '../../daemon/doctor/finding.ts'
import { stateFolderOf } from '../../daemon/identity.ts'
import { examples, type Verb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { DEFAULT_FOLDER, folderPath, isFolder } from '../watch/runs-folder.ts'

export const doctor: Verb = (program, act) =>
  program
    .command('doctor [folder]')
    .summary('check settings, server, token and folder, and say how to mend them')
    .description(
      'Looks at everything `runfold watch` needs: settings, the way to the server, its clock, what the token may do, the ' +
        'folder of runs and what is remembered of it; and at the sessions of coding agents, whether they are archived. Changes nothing, and says of all that is wrong how to mend it.',
    )
    .addHelpText(
      'after',
      `\nThe folder is ${DEFAULT_FOLDER} when none is given. Ends with 1 when something is\nbad; warnings do not count.\n${examples(
        'doctor',
        'doctor ~/agent/runs --url https://runfold.example',
      )}`,
    )
    .action(
      act(async (session, folder: string | undefined) => {
        let isBad = false
        for await (const finding of findings(session, folder)) {
          isBad ||= finding.state === 'bad'
          await tell(session, finding)
        }
        return isBad ? EXIT.failed : EXIT.ok
      }),
    )

async function* findings(session: Session, folder: string | undefined): AsyncGenerator<Finding> {
  const [
    { bad, warning },
    { checkServer },
    { checkToken },
    { checkFolder, checkTroubles },
    { checkSessions },
    { machineOf },
  ] = await Promise.all([
    import('../../daemon/doctor/finding.ts'),
    import('../../daemon/doctor/server.ts'),
    import('../../daemon/doctor/token.ts'),
    import('../../daemon/doctor/folder.ts'),
    import('../../daemon/doctor/sessions.ts'),
    import('../../daemon/sync/open-sync.ts'),
  ])
  const { io, signal } = session
  const { url, token } = await session.config()
  const { findings, client } = await checkServer({ url, token, fetch: io.fetch, signal })
  yield* findings
  if (client) yield* await checkToken(client)
  const runs = folderPath(io, folder)
  if (await isFolder(runs)) {
    const state = await stateFolderOf(runs, io.env)
    yield* checkFolder(runs, state)
    yield* checkTroubles(runs, state)
  } else {
    // Who archives sessions only has none; who named one meant it.
    const finding = folder === undefined ? warning : bad
    yield finding('folder', `there is no folder ${runs}`, 'name the one your runs are in, if you have runs')
  }
  yield* checkSessions(client, io.env, machineOf(io.env))
}

const STYLES = { ok: 'green', warning: 'yellow', bad: 'red' } as const

const tell = async ({ json, out }: Session, finding: Finding): Promise<void> => {
  if (json) return out.json(finding)
  const { check, state, found, mend } = finding
  await out.line(`${out.paint(STYLES[state], state.padEnd(8))}${check.padEnd(11)} ${oneLine(found)}`)
  if (mend) await out.line(`${''.padEnd(20)}→ ${oneLine(mend)}`)
}
