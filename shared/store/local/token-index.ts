import type { DatabaseSync } from 'node:sqlite'
import type { StoredToken, TokenIndex } from '../ports.ts'
import type { GroupCommit } from './database.ts'

export function sqliteTokenIndex(database: DatabaseSync, commits: GroupCommit): TokenIndex {
  const put = database.prepare(`INSERT INTO tokens (hash, tenant, token_id, created_at, last_used_at, token)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET token = excluded.token`)
  const byHash = database.prepare('SELECT token, last_used_at FROM tokens WHERE hash = ?')
  const ofTenant = database.prepare(
    'SELECT token, last_used_at FROM tokens WHERE tenant = ? ORDER BY created_at',
  )
  const drop = database.prepare('DELETE FROM tokens WHERE tenant = ? AND token_id = ?')
  const touch = database.prepare('UPDATE tokens SET last_used_at = ? WHERE hash = ?')

  const tokenOf = (row: Record<string, unknown>): StoredToken => ({
    ...(JSON.parse(String(row.token)) as StoredToken),
    last_used_at: row.last_used_at as number | null,
  })

  return {
    put: (token) =>
      commits.write(() => {
        const { hash, tenant, token_id, created_at, last_used_at } = token
        put.run(hash, tenant, token_id, created_at, last_used_at, JSON.stringify(token))
      }),
    byHash: async (hash) => {
      const row = byHash.get(hash)
      return row && tokenOf(row)
    },
    list: async (tenant) => ofTenant.all(tenant).map(tokenOf),
    remove: (tenant, token_id) => commits.write(() => drop.run(tenant, token_id).changes > 0),
    touch: (hash, last_used_at) => commits.write(() => void touch.run(last_used_at, hash)),
  }
}
