import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { sessionsTeller } from './tell.ts'

/** Archives the sessions of this machine as they grow, until the command is interrupted. */
export const watchSessions = async (session: Session): Promise<ExitCode> => {
  const { openSync, machineOf } = await import('../../daemon/sync/open-sync.ts')
  const { io, signal } = session
  using syncing = await openSync({
    client: await session.client(),
    url: (await session.config()).url,
    env: io.env,
    machine: machineOf(io.env),
    looksForSecrets: true,
    refusesSecrets: false,
    verifies: false,
    isDry: false,
    signal,
  })
  await syncing.watch(sessionsTeller(session), signal)
  return EXIT.ok
}
