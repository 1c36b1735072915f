/** The environment a server is started with (API.md, Local server). */
export interface ServerEnv {
  /** 0 takes any free port. */
  readonly port: number
  readonly host: string
  /** The folder of this server: its token, and all runs where they are kept on this machine. */
  readonly data: string
  readonly store: StoreSettings
  readonly adminToken: string | undefined
  /** Whether each request is logged as a JSON line. */
  readonly logRequests: boolean
  /** Days after its last change until an ended run is deleted; undefined keeps all for ever. */
  readonly retentionDays: number | undefined
}

/** Where runs are kept; what is not said of AWS (region, credentials) the SDK finds for itself. */
type StoreSettings = { readonly kind: 'local' } | AwsSettings

export interface AwsSettings {
  readonly kind: 'aws'
  readonly bucket: string
  readonly table: string
  /** Put before every object key. */
  readonly prefix: string
  /** Of services that are not Amazon's. */
  readonly s3: string | undefined
  readonly dynamodb: string | undefined
}

/** The environment of the Lambda functions; infra sets the same. */
export interface FunctionEnv {
  readonly store: AwsSettings
  /** Name or ARN of the function that maintains; without one the schedule alone does. */
  readonly maintain: string | undefined
  /** What every request has to show in ORIGIN_SECRET_HEADER, or the ARN under which Secrets Manager keeps it. */
  readonly originSecret: string | undefined
  /** As of a server. */
  readonly retentionDays: number | undefined
}

/** How the distribution shows that a request came through it. */
export const ORIGIN_SECRET_HEADER = 'x-runfold-origin'

type Variables = Readonly<Record<string, string | undefined>>

/** A setting that cannot be used; the message is a line for the person who starts the server. */
export class SettingError extends Error {}

/** An empty variable counts as absent, as in most shells' habits. */
export function readServerEnv(variables: Variables): ServerEnv {
  return {
    port: portOf(variables.PORT || '8080'),
    host: variables.RUNFOLD_HOST || '127.0.0.1',
    data: variables.RUNFOLD_DATA || './runfold-data',
    store: storeOf(variables),
    adminToken: tokenOf(variables.RUNFOLD_ADMIN_TOKEN || undefined),
    logRequests: variables.RUNFOLD_LOG === 'json',
    retentionDays: daysOf('RUNFOLD_RETENTION_DAYS', variables),
  }
}

export function readFunctionEnv(variables: Variables): FunctionEnv {
  const store = storeOf({ ...variables, RUNFOLD_STORE: 'aws' })
  if (store.kind !== 'aws') throw new SettingError('a function keeps runs on the store aws')
  return {
    store,
    maintain: variables.RUNFOLD_MAINTAIN_FUNCTION || undefined,
    originSecret: variables.RUNFOLD_ORIGIN_SECRET || undefined,
    retentionDays: daysOf('RUNFOLD_RETENTION_DAYS', variables),
  }
}

/** What `#store/aws` is opened with. */
export const awsOptions = ({ bucket, table, prefix, s3, dynamodb }: AwsSettings) => ({
  bucket,
  table,
  prefix,
  ...(s3 !== undefined && { s3: { endpoint: s3 } }),
  ...(dynamodb !== undefined && { dynamodb: { endpoint: dynamodb } }),
  fullChecksums: s3 === undefined, // other stores need not know them
})

function storeOf(variables: Variables): StoreSettings {
  const kind = variables.RUNFOLD_STORE || 'local'
  if (kind === 'local') return { kind }
  if (kind !== 'aws')
    throw new SettingError(`RUNFOLD_STORE is ${JSON.stringify(kind)}; it must be local or aws`)
  const { RUNFOLD_BUCKET: bucket, RUNFOLD_TABLE: table } = variables
  if (!bucket || !table)
    throw new SettingError('the store aws needs a bucket and a table: RUNFOLD_BUCKET and RUNFOLD_TABLE')
  return {
    kind,
    bucket,
    table,
    prefix: variables.RUNFOLD_PREFIX || '',
    s3: urlOf('RUNFOLD_ENDPOINT_S3', variables),
    dynamodb: urlOf('RUNFOLD_ENDPOINT_DYNAMODB', variables),
  }
}

function urlOf(name: string, variables: Variables): string | undefined {
  const text = variables[name] || undefined
  if (text === undefined || /^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new SettingError(`${name} is ${JSON.stringify(text)}; it must be a URL of http or https`)
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new SettingError(`PORT is ${JSON.stringify(text)}; it must be a number from 0 to 65535`)
}

function daysOf(name: string, variables: Variables): number | undefined {
  const text = variables[name] || undefined
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new SettingError(`${name} is ${JSON.stringify(text)}; it must be a number of days from 1 to 99999`)
}

function tokenOf(text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z0-9._~+/-]+=*$/.test(text)) return text
  throw new SettingError('RUNFOLD_ADMIN_TOKEN may hold A-Z a-z 0-9 . _ ~ + / -')
}
