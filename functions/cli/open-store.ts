import { resolve } from 'node:path'
import { readServerEnv, SettingError } from '../env.ts'
import type { Session } from './session.ts'
import { environmentOf, STORE_VARIABLES, type StoreOptions } from './store-options.ts'
import { UsageError } from './usage-error.ts'

/**
 * Opens a store without a server, for the few commands that have to. All it needs is loaded only here, so that no other
 * command pays for it; the caller closes it.
 *
 * @param before looks at the settings before anything is opened or made
 * @throws UsageError where the settings are wrong
 */
export const openStore = async (
  { io, err }: Session,
  options: StoreOptions,
  before: (data: string, kind: 'local' | 'aws') => Promise<void> = async () => {},
) => {
  const [{ nodePlatform }, { createLog }, store] = await Promise.all([
    import('../api/platform.ts'),
    import('../api/log.ts'),
    import('#store'),
  ])
  const env = settings(environmentOf(io.env, options, STORE_VARIABLES))
  const data = resolve(io.cwd, env.data)
  await before(data, env.store.kind)
  const log = createLog(false, (line) => void err.line(line))
  const { ports, close } = await nodePlatform.openStore({ ...env, data }, log)
  const tokens = store.createTokens(ports.tokens, store.systemClock)
  return { store, ports, tokens, data, adminToken: env.adminToken, close }
}

const settings = (env: Session['io']['env']) => {
  try {
    return readServerEnv(env)
  } catch (error) {
    throw error instanceof SettingError ? new UsageError(error.message) : error
  }
}
