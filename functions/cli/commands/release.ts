import prettyBytes from 'pretty-bytes'
import { examples, runName, type Verb } from '../command.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'
import { DEFAULT_FOLDER, runsFolder } from '../watch/runs-folder.ts'

export const release: Verb = (program, act) =>
  program
    .command('release')
    .summary('send what a run has, and leave it to another machine')
    .description(
      'Sends what the run’s file has and gives its lease back, so that another machine can take the run without force and ' +
        'without loss. End the run’s daemon first; `runfold watch` may go on.',
    )
    .argument('<run>', 'the run', runName)
    .option('--from <folder>', 'the folder of runs', DEFAULT_FOLDER)
    .addHelpText('after', examples('release fix-login-7f3a', 'release fix-login-7f3a --from ~/agent/runs'))
    .action(
      act(async ({ io, json, out, signal, client }, run: string, { from }: { from: string }) => {
        const [{ handOver }, { identityOf, stateFolderOf }, { listRuns }] = await Promise.all([
          import('../../daemon/resume/hand-over.ts'),
          import('../../daemon/identity.ts'),
          import('../../daemon/watch/runs-folder.ts'),
        ])
        const runs = await runsFolder(io, from)
        const place = (await listRuns(runs)).runs.find(({ run_id }) => run_id === run)
        if (!place) throw new UsageError(`there is no run ${run} in ${runs}`)
        const worker = await identityOf(runs, await stateFolderOf(runs, io.env))
        const server = await client()
        const { limits, features } = await server.capabilities()
        const uploads = features.includes('uploads')
        const { path } = place
        const handed = await handOver({ client: server, limits, uploads, run, worker, path, signal })
        const text = `${oneLine(run)}: ${prettyBytes(handed.tail)} are on the server, and the run is free`
        await (json ? out.json(handed) : out.line(text))
        return undefined
      }),
    )
