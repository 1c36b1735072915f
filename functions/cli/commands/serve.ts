import { examples, type Verb, wholeNumber } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { environmentOf, STORE_VARIABLES, type StoreOptions, withStoreOptions } from '../store-options.ts'

interface ServeOptions extends StoreOptions {
  readonly port?: number
  readonly host?: string
  readonly allowRemote?: boolean
}

/** A shell around the server: it is loaded only here, so that no other command pays for it. */
export const serve: Verb = (program, act) =>
  withStoreOptions(
    program
      .command('serve')
      .summary('start a server on this machine')
      .description(
        'Starts a server that keeps its data in a folder, or in S3 and DynamoDB. Ctrl-C ends it in good order.',
      )
      .option('--port <port>', 'where to listen, 0 for any free port; default PORT or 8080', wholeNumber)
      .option('--host <address>', 'default RUNFOLD_HOST or 127.0.0.1'),
  )
    .option('--allow-remote', 'allow an address that other machines can reach')
    .addHelpText(
      'after',
      `
Environment, beside the defaults above:
  RUNFOLD_ADMIN_TOKEN     the first token; else made: <data>/admin-token
  RUNFOLD_RETENTION_DAYS  delete ended runs after so many days; else never
  RUNFOLD_LOG             json: a line per request on standard error
${examples(
  'serve',
  'serve --port 9000 --data /var/lib/runfold',
  'serve --store aws --bucket my-runs --table my-runs',
)}`,
    )
    .action(
      act(async ({ io }, options: ServeOptions) => {
        const [{ nodePlatform }, { runServer }] = await Promise.all([
          import('../../api/platform.ts'),
          import('../../api/run-server.ts'),
        ])
        await runServer(
          nodePlatform,
          environmentOf(io.env, options, VARIABLES),
          options.allowRemote ? ['--allow-remote'] : [],
          CALLED,
        )
        // It has said why when it did not start; when it did, the process lives as long as the server.
        return process.exitCode ? (process.exitCode === EXIT.usage ? EXIT.usage : EXIT.failed) : undefined
      }),
    )

/** How this program is called: from its sources in a checkout, or as the bundle of a package. */
const CALLED = import.meta.url.endsWith('.ts') ? 'npm run -s cli --' : 'npx runfold'

/** The variables that an option stands for. */
const VARIABLES = { ...STORE_VARIABLES, port: 'PORT', host: 'RUNFOLD_HOST' } as const
