import type { RunKey } from '../../schema/index.ts'
import type { OpenParts, UploadIndex, UploadRecord } from '../ports.ts'

/** The reference: one Map of uploads, and one of multipart uploads of our own. */
export function memoryUploadIndex(): UploadIndex {
  const byId = new Map<string, UploadRecord>()
  const parts = new Map<string, OpenParts>()
  const isOf = (record: UploadRecord, { tenant, run_id }: RunKey) =>
    record.run.tenant === tenant && record.run.run_id === run_id
  const find = (run: RunKey, upload_id: string) => {
    const found = byId.get(upload_id)
    return found && isOf(found, run) ? found : undefined
  }
  return {
    put: async (record) => void byId.set(record.upload_id, record),
    get: async (run, upload_id) => find(run, upload_id),
    remove: async (run, upload_id) => {
      if (find(run, upload_id)) byId.delete(upload_id)
    },
    ofRun: async (run) => [...byId.values()].filter((record) => isOf(record, run)),
    putParts: async (open) => void parts.set(open.storage_id, open),
    removeParts: async ({ storage_id }) => void parts.delete(storage_id),
    expired: async (now, limit) =>
      [...byId.values(), ...parts.values()]
        .filter(({ expires_at }) => expires_at <= now)
        .sort((a, b) => a.expires_at - b.expires_at)
        .slice(0, limit),
  }
}
