import { examples, type Verb, wholeNumber } from '../command.ts'
import { EXIT } from '../exit-codes.ts'

interface ServeOptions {
  readonly port?: number
  readonly host?: string
  readonly data?: string
  readonly allowRemote?: boolean
}

/** A shell around the server: it is loaded only here, so that no other command pays for it. */
export const serve: Verb = (program, act) =>
  program
    .command('serve')
    .summary('start a server on this machine')
    .description('Starts a server that keeps its data in a folder. Ctrl-C ends it in good order.')
    .option('--port <port>', 'where to listen, 0 for any free port; default PORT or 8080', wholeNumber)
    .option('--host <address>', 'default RUNFOLD_HOST or 127.0.0.1')
    .option('--data <folder>', 'where data is kept; default RUNFOLD_DATA or ./runfold-data')
    .option('--allow-remote', 'allow an address that other machines can reach')
    .addHelpText('after', examples('serve', 'serve --port 9000 --data /var/lib/runfold'))
    .action(
      act(async ({ io }, { port, host, data, allowRemote }: ServeOptions) => {
        const [{ getRequestListener }, { openLocalStore }, { runServer }] = await Promise.all([
          import('@hono/node-server'),
          import('#store/local'),
          import('../../api/run-server.ts'),
        ])
        const variables = {
          ...io.env,
          ...(port !== undefined && { PORT: String(port) }),
          ...(host !== undefined && { RUNFOLD_HOST: host }),
          ...(data !== undefined && { RUNFOLD_DATA: data }),
        }
        const platform = { openStore: openLocalStore, listener: getRequestListener }
        await runServer(platform, variables, allowRemote ? ['--allow-remote'] : [])
        // It has said why when it did not start; when it did, the process lives as long as the server.
        return process.exitCode ? EXIT.failed : undefined
      }),
    )
