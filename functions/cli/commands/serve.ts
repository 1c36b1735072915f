import { examples, type Verb, wholeNumber } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import type { Io } from '../io.ts'

interface ServeOptions {
  readonly port?: number
  readonly host?: string
  readonly data?: string
  readonly store?: string
  readonly bucket?: string
  readonly table?: string
  readonly prefix?: string
  readonly endpointS3?: string
  readonly endpointDynamodb?: string
  readonly allowRemote?: boolean
}

/** A shell around the server: it is loaded only here, so that no other command pays for it. */
export const serve: Verb = (program, act) =>
  program
    .command('serve')
    .summary('start a server on this machine')
    .description(
      'Starts a server that keeps its data in a folder, or in S3 and DynamoDB. Ctrl-C ends it in good order.',
    )
    .option('--port <port>', 'where to listen, 0 for any free port; default PORT or 8080', wholeNumber)
    .option('--host <address>', 'default RUNFOLD_HOST or 127.0.0.1')
    .option('--data <folder>', 'where data is kept; default RUNFOLD_DATA or ./runfold-data')
    .option('--store <kind>', 'local or aws; default RUNFOLD_STORE or local')
    .option('--bucket <name>', 'of the store aws; default RUNFOLD_BUCKET')
    .option('--table <name>', 'of the store aws; default RUNFOLD_TABLE')
    .option('--prefix <text>', 'put before every object key; default RUNFOLD_PREFIX')
    .option('--endpoint-s3 <url>', 'a store that speaks S3; default RUNFOLD_ENDPOINT_S3 or Amazon')
    .option('--endpoint-dynamodb <url>', 'default RUNFOLD_ENDPOINT_DYNAMODB or Amazon')
    .option('--allow-remote', 'allow an address that other machines can reach')
    .addHelpText(
      'after',
      examples(
        'serve',
        'serve --port 9000 --data /var/lib/runfold',
        'serve --store aws --bucket my-runs --table my-runs',
      ),
    )
    .action(
      act(async ({ io }, options: ServeOptions) => {
        const [{ nodePlatform }, { runServer }] = await Promise.all([
          import('../../api/platform.ts'),
          import('../../api/run-server.ts'),
        ])
        await runServer(
          nodePlatform,
          variablesOf(io.env, options),
          options.allowRemote ? ['--allow-remote'] : [],
        )
        // It has said why when it did not start; when it did, the process lives as long as the server.
        return process.exitCode ? EXIT.failed : undefined
      }),
    )

/** The variables that an option stands for; what is given wins over what is set. */
const VARIABLES = {
  port: 'PORT',
  host: 'RUNFOLD_HOST',
  data: 'RUNFOLD_DATA',
  store: 'RUNFOLD_STORE',
  bucket: 'RUNFOLD_BUCKET',
  table: 'RUNFOLD_TABLE',
  prefix: 'RUNFOLD_PREFIX',
  endpointS3: 'RUNFOLD_ENDPOINT_S3',
  endpointDynamodb: 'RUNFOLD_ENDPOINT_DYNAMODB',
} as const satisfies Partial<Record<keyof ServeOptions, string>>

const variablesOf = (env: Io['env'], options: ServeOptions): Io['env'] => {
  const given = Object.entries(VARIABLES)
    .map(([name, variable]) => [variable, options[name as keyof typeof VARIABLES]] as const)
    .filter(([, value]) => value !== undefined)
  return { ...env, ...Object.fromEntries(given.map(([variable, value]) => [variable, String(value)])) }
}
