import type { UploadIndex, UploadRecord } from '../ports.ts'

export function memoryUploadIndex(): UploadIndex {
  const byId = new Map<string, UploadRecord>()
  const isOf = (record: UploadRecord, tenant: string, run_id: string) =>
    record.run.tenant === tenant && record.run.run_id === run_id
  return {
    put: async (record) => void byId.set(record.upload_id, record),
    get: async ({ tenant, run_id }, upload_id) => {
      const found = byId.get(upload_id)
      return found && isOf(found, tenant, run_id) ? found : undefined
    },
    remove: async ({ tenant, run_id }, upload_id) => {
      const found = byId.get(upload_id)
      if (found && isOf(found, tenant, run_id)) byId.delete(upload_id)
    },
    ofRun: async ({ tenant, run_id }) => [...byId.values()].filter((record) => isOf(record, tenant, run_id)),
    expired: async (now, limit) =>
      [...byId.values()]
        .filter((record) => record.expires_at <= now)
        .sort((a, b) => a.expires_at - b.expires_at)
        .slice(0, limit),
  }
}
