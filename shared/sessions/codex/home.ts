import { parseExact } from '../exact-json.ts'
import type { Home } from '../home.ts'
import { LineSplitter } from '../lines.ts'
import { metaId } from './identity.ts'

const ROLLOUT = /^(?:sessions\/\d{4}\/\d\d\/\d\d|archived_sessions(?:\/.+)?)\/(rollout-[^/]*\.jsonl)(\.zst)?$/
const UUID_AT_END = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** One rollout is one session. Its path is the file name, so that moving it to the archive folder changes nothing. */
export const codexHome: Home = {
  harness: 'codex',
  variable: 'CODEX_HOME',
  folder: '.codex',
  roots: ['sessions', 'archived_sessions'],
  place(file) {
    const [, path, zst] = ROLLOUT.exec(file) ?? []
    if (path === undefined) return undefined
    const stem = path.replace(/\.jsonl$/, '')
    const id = UUID_AT_END.exec(stem)?.[0] ?? stem
    return zst === undefined ? { id, path } : { id, path, compressed: 'zstd' }
  },
  nameIn(head) {
    for (const line of new LineSplitter().push(head)) {
      const record = line.content && parseExact(new TextDecoder().decode(line.content))
      if (record instanceof Map) return metaId(record) || undefined
    }
    return undefined
  },
}
