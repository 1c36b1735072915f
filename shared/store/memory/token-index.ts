import type { StoredToken, TokenIndex } from '../ports.ts'

/** The reference: one Map by hash. */
export function memoryTokenIndex(): TokenIndex {
  const byHash = new Map<string, StoredToken>()
  return {
    put: async (token) => void byHash.set(token.hash, token),
    byHash: async (hash) => byHash.get(hash),
    list: async (tenant) =>
      [...byHash.values()].filter((t) => t.tenant === tenant).sort((a, b) => a.created_at - b.created_at),
    remove: async (tenant, token_id) => {
      const found = [...byHash.values()].find((t) => t.tenant === tenant && t.token_id === token_id)
      return found !== undefined && byHash.delete(found.hash)
    },
    touch: async (hash, last_used_at) => {
      const found = byHash.get(hash)
      if (found) byHash.set(hash, { ...found, last_used_at })
    },
  }
}
