import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import prettyBytes from 'pretty-bytes'
import type { FailedRun, RebuiltRun } from '#store'
import { counted } from '../../counted.ts'
import { examples, type Verb } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { explain } from '../explain.ts'
import { openStore } from '../open-store.ts'
import { tellRebuilt, tellRederived } from '../rebuild/sessions.ts'
import type { Session } from '../session.ts'
import { type StoreOptions, withStoreOptions } from '../store-options.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

type Found = RebuiltRun | FailedRun

/** A shell around the store's rebuild: it is loaded only here, so that no other command pays for it. */
export const rebuild: Verb = (program, act) =>
  withStoreOptions(
    program
      .command('rebuild')
      .summary('make a lost index again from the stored objects')
      .description(
        'Makes the index of a store again from its objects alone, for when index.sqlite or the table is lost. Restoring a ' +
          'backup of it (on AWS: point-in-time recovery) comes first; this is for when there is none. Stop every server ' +
          'before. Runs and sessions that the index knows are left as they are, so an interrupted rebuild may be repeated.',
      )
      .option('--sessions', 'instead make all that is derived of sessions anew from their raw files'),
  )
    .addHelpText(
      'after',
      `
Afterwards every owner has to take its lease anew, and for a week nothing is
swept. What two writers left at the end of a run, so that nobody can tell which
of it was acknowledged, is kept aside meanwhile and named. A run whose deletion
was begun and may have been made lives again and is named as well. Tokens are
not in the objects: only the admin token is there again, which is made where the
data folder has none. Direct uploads that were open are lost. With --sessions
nothing is lost and needs no rebuild: documents and catalog entries of every
session are made again.
${examples('rebuild --data /var/lib/runfold', 'rebuild --sessions', 'rebuild --store aws --bucket my-runs --table my-runs')}`,
    )
    .action(
      act(async (session, options: StoreOptions & { readonly sessions?: true }) => {
        const store = await opened(session, options)
        try {
          if (options.sessions) return await tellRederived(session, store.rederived())
          const runs = await rebuildAll(session, store)
          return (await tellRebuilt(session, store.sessions())) ?? runs
        } finally {
          store.close()
        }
      }),
    )

const opened = async (session: Session, options: StoreOptions) => {
  const [{ adminToken }, archive, { LOCAL_LIMITS }, opening] = await Promise.all([
    import('../../api/admin-token.ts'),
    import('#sessions/archive'),
    import('../../api/limits.ts'),
    openStore(session, options, (folder, kind) =>
      kind === 'local' ? requireObjects(folder) : Promise.resolve(),
    ),
  ])
  const { store, ports, tokens, data, adminToken: given, close } = opening
  const sessions = archive.createSessionArchive(ports, { clock: store.systemClock, limits: LOCAL_LIMITS })
  return {
    sessions: () => archive.rebuildSessions(sessions),
    rederived: () => archive.rederiveAll(sessions),
    runs: () => store.rebuild(ports, store.systemClock),
    /** @returns where it stands */
    installToken: async () => {
      const token = await adminToken(data, given)
      await tokens.install(token.text)
      return token.place
    },
    close,
  }
}

/** A folder that was named wrongly must not become a new and empty store. */
const requireObjects = async (data: string): Promise<void> => {
  const found = await stat(join(data, 'objects')).catch(() => undefined)
  if (!found?.isDirectory())
    throw new UsageError(`there are no stored objects in ${data}; name the data folder by --data`)
}

const rebuildAll = async (
  session: Session,
  store: Awaited<ReturnType<typeof opened>>,
): Promise<ExitCode | undefined> => {
  const { out, json, signal } = session
  const counts = { rebuilt: 0, deleted: 0, known: 0, failed: 0 }
  let code: ExitCode | undefined
  for await (const found of store.runs()) {
    signal.throwIfAborted()
    counts[found.outcome]++
    await (json ? out.json(rowOf(found)) : tell(session, found))
    if (found.outcome === 'failed') code = EXIT.failed
    else if (found.lost || found.undecided.length > 0) code ??= EXIT.damaged
  }
  const place = await store.installToken()
  if (json) return code
  const { rebuilt, deleted, known, failed } = counts
  await out.line(
    `${counted(rebuilt, 'run')} given back, ${deleted} deleted, ${known} known already, ${failed} failed; admin token: ${place}`,
  )
  return code
}

const nameOf = ({ run: { tenant, run_id } }: Found): string => `${oneLine(tenant)}/${oneLine(run_id)}`

const rowOf = ({ run, ...found }: Found) =>
  found.outcome === 'failed'
    ? { ...run, outcome: found.outcome, error: explain(found.error).problem }
    : { ...run, ...found }

const tell = async ({ out, err }: Session, found: Found): Promise<void> => {
  if (found.outcome === 'failed') return err.line(`${nameOf(found)}: ${explain(found.error).text}`)
  const { outcome, tail, frames, undecided, lost, ending } = found
  if (outcome === 'rebuilt')
    await out.line(`${nameOf(found)}: ${prettyBytes(tail)}, ${counted(frames, 'frame')}`)
  if (lost) await err.line(`${nameOf(found)}: the archive bytes ${lost.start} to ${lost.end} are lost`)
  if (ending)
    await err.line(
      `${nameOf(found)}: a deletion was begun and may have been made; delete the run again if that was meant`,
    )
  if (undecided.length === 0) return
  await err.line(
    `${nameOf(found)}: ends at ${tail}; which of these came next cannot be told, they stay for a week:`,
  )
  for (const key of undecided) await err.line(`  ${oneLine(key)}`)
}
