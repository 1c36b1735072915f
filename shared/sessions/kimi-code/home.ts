import type { Home } from '../home.ts'
import { MAIN, STATE, wireOf } from './files.ts'

const FILE = /^sessions\/[^/]+\/session_([^/]+)\/(.+)$/

/** Files that come and go while the harness works. */
const PASSING = /\.(?:lock|tmp)$/

/** `sessions/<workspace>/session_<uuid>/`, and every file in it. */
export const kimiCodeHome: Home = {
  harness: 'kimi-code',
  variable: 'KIMI_CODE_HOME',
  folder: '.kimi-code',
  roots: ['sessions'],
  place(file) {
    const [, id, path] = FILE.exec(file) ?? []
    return id === undefined || path === undefined || PASSING.test(path) ? undefined : { id, path }
  },
  isSession: (paths) => paths.has(STATE) || paths.has(wireOf(MAIN)),
}
