import type { Home } from '../home.ts'

const TRANSCRIPT = /^projects\/[^/]+\/([^/]+)\.jsonl$/
const BESIDE = /^projects\/[^/]+\/([^/]+)\/(.+)$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What may lie beside a transcript. Folders of other names in a project are none of a session, unless they are named by one. */
const SIDE_FOLDERS: ReadonlySet<string | undefined> = new Set(['tool-results', 'subagents', 'workflows'])

/** `projects/<folder>/<sid>.jsonl` and `<sid>/…` beside it; the folder spells a directory lossily and is never decoded. */
export const claudeCodeHome: Home = {
  harness: 'claude-code',
  variable: 'CLAUDE_CONFIG_DIR',
  folder: '.claude',
  roots: ['projects'],
  place(path) {
    const id = TRANSCRIPT.exec(path)?.[1]
    if (id !== undefined) return { id, path: `${id}.jsonl` }
    const [, folder = '', rest = ''] = BESIDE.exec(path) ?? []
    const isSide = UUID.test(folder) || SIDE_FOLDERS.has(rest.split('/')[0])
    return isSide && rest.length > 0 ? { id: folder, path: `${folder}/${rest}` } : undefined
  },
}
