import type { Command } from 'commander'
import type { Io } from './io.ts'

/** Where a server keeps its data, for the commands that open it themselves. */
export interface StoreOptions {
  readonly data?: string
  readonly store?: string
  readonly bucket?: string
  readonly table?: string
  readonly prefix?: string
  readonly endpointS3?: string
  readonly endpointDynamodb?: string
}

export const withStoreOptions = (command: Command): Command =>
  command
    .option('--data <folder>', 'where data is kept; default RUNFOLD_DATA or ./runfold-data')
    .option('--store <kind>', 'local or aws; default RUNFOLD_STORE or local')
    .option('--bucket <name>', 'of the store aws; default RUNFOLD_BUCKET')
    .option('--table <name>', 'of the store aws; default RUNFOLD_TABLE')
    .option('--prefix <text>', 'put before every object key; default RUNFOLD_PREFIX')
    .option('--endpoint-s3 <url>', 'a store that speaks S3; default RUNFOLD_ENDPOINT_S3 or Amazon')
    .option('--endpoint-dynamodb <url>', 'default RUNFOLD_ENDPOINT_DYNAMODB or Amazon')

export const STORE_VARIABLES = {
  data: 'RUNFOLD_DATA',
  store: 'RUNFOLD_STORE',
  bucket: 'RUNFOLD_BUCKET',
  table: 'RUNFOLD_TABLE',
  prefix: 'RUNFOLD_PREFIX',
  endpointS3: 'RUNFOLD_ENDPOINT_S3',
  endpointDynamodb: 'RUNFOLD_ENDPOINT_DYNAMODB',
} as const satisfies Record<keyof StoreOptions, string>

/** The environment with what was given as an option; that wins over what is set. */
export const environmentOf = <Name extends string>(
  env: Io['env'],
  options: { readonly [name in NoInfer<Name>]?: string | number },
  variables: Readonly<Record<Name, string>>,
): Io['env'] => {
  const given = Object.entries<string>(variables)
    .map(([name, variable]) => [variable, options[name as Name]] as const)
    .filter(([, value]) => value !== undefined)
  return { ...env, ...Object.fromEntries(given.map(([variable, value]) => [variable, String(value)])) }
}
