import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import prettyBytes from 'pretty-bytes'
import { RunfoldError } from '#schema'
import { examples, runName, type Verb } from '../command.ts'
import { checkFree } from '../free-file.ts'
import { startProgress } from '../progress.ts'
import { download } from '../pull/download.ts'
import { pullFile } from '../pull/pull-file.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

export const pull: Verb = (program, act) =>
  program
    .command('pull')
    .summary('fetch the archive of a run, byte for byte')
    .description(
      'Fetches the archive of a run, byte for byte, into a file (default <run>.lvr) or to standard output (-). An ' +
        'interrupted pull goes on where it stopped. Needs the scopes read and resume: archives hold secrets.',
    )
    .argument('<run>', 'the run', runName)
    .argument('[file]', 'where to put it; - is standard output')
    .option('--force', 'replace the file if it is there')
    .addHelpText(
      'after',
      examples(
        'pull fix-login-7f3a',
        'pull fix-login-7f3a copy.lvr --force',
        'pull fix-login-7f3a - | sha256sum',
      ),
    )
    .action(
      act(async (session, run: string, file: string | undefined, { force }: { force?: boolean }) => {
        if (file === '-') await toStandardOutput(session, run)
        else await toFile(session, run, resolve(session.io.cwd, file ?? `${run}.lvr`), force === true)
        return undefined
      }),
    )

const toFile = async (session: Session, run: string, path: string, force: boolean): Promise<void> => {
  const { out, err, json } = session
  const client = await session.client()
  await checkFree(path, force)
  const progress = (from: number, end: number) => startProgress(err, oneLine(run), from, end)
  const pulled = await pullFile({ client, run, path, progress })
  if (json) await out.json(pulled)
  else await out.line(`${oneLine(run)}: ${prettyBytes(pulled.bytes)} in ${oneLine(path)}`)
}

const toStandardOutput = async ({ client, out, json }: Session, run: string): Promise<void> => {
  if (out.isTerminal) throw new UsageError('archive bytes are not for a terminal; name a file, or pipe them')
  if (json) throw new UsageError('--json does not go with bytes on standard output')
  const server = await client()
  const { tail, digest } = await server.run(run)
  const hash = createHash('sha256')
  await download({
    client: server,
    run,
    from: 0,
    tail,
    write: async (bytes) => {
      hash.update(bytes)
      await out.bytes(bytes)
    },
  })
  if (hash.digest('hex') !== digest)
    throw new RunfoldError('internal', `the bytes that came are not those of ${run}: their digest differs`)
}
