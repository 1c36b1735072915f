import type { DatabaseSync } from 'node:sqlite'
import type { Objects, OpenParts, UploadIndex, UploadRecord } from '../ports.ts'
import { PARTS_PREFIX, storageIdOf } from '../uploads/own-uploads.ts'
import type { GroupCommit } from './database.ts'

/** Parts of the server's own stand in the row of no run: no tenant and no run has an empty name. */
const NO_RUN = ''

export function sqliteUploadIndex(database: DatabaseSync, commits: GroupCommit): UploadIndex {
  const put = database.prepare(`INSERT INTO uploads (tenant, run_id, upload_id, expires_at, upload)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at, upload = excluded.upload`)
  const get = database.prepare('SELECT upload FROM uploads WHERE tenant = ? AND run_id = ? AND upload_id = ?')
  const drop = database.prepare('DELETE FROM uploads WHERE tenant = ? AND run_id = ? AND upload_id = ?')
  const ofRun = database.prepare('SELECT upload FROM uploads WHERE tenant = ? AND run_id = ?')
  const expired = database.prepare(
    'SELECT upload FROM uploads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
  )

  const read = <T>(row: Record<string, unknown>) => JSON.parse(String(row.upload)) as T

  return {
    put: (record) =>
      commits.write(() => {
        const { run, upload_id, expires_at } = record
        put.run(run.tenant, run.run_id, upload_id, expires_at, JSON.stringify(record))
      }),
    get: async ({ tenant, run_id }, upload_id) => {
      const row = get.get(tenant, run_id, upload_id)
      return row && read<UploadRecord>(row)
    },
    remove: ({ tenant, run_id }, upload_id) => commits.write(() => void drop.run(tenant, run_id, upload_id)),
    ofRun: async ({ tenant, run_id }) => ofRun.all(tenant, run_id).map(read<UploadRecord>),
    putParts: (parts) =>
      commits.write(() => {
        put.run(NO_RUN, NO_RUN, parts.storage_id, parts.expires_at, JSON.stringify(parts))
      }),
    removeParts: ({ storage_id }) => commits.write(() => void drop.run(NO_RUN, NO_RUN, storage_id)),
    expired: async (now, limit) => expired.all(now, limit).map(read<UploadRecord | OpenParts>),
  }
}

/**
 * Removes what a killed server received for uploads that the index does not know: not yet, or not any more. Only for the one
 * that holds the lock on the folder, before it takes requests.
 */
export async function forgetUnknownParts(database: DatabaseSync, objects: Objects): Promise<void> {
  const rows = database.prepare("SELECT json_extract(upload, '$.storage_id') AS id FROM uploads").all()
  const known = new Set(rows.map(({ id }) => id))
  const unknown: string[] = []
  for await (const { key } of objects.list(PARTS_PREFIX)) {
    if (!known.has(storageIdOf(key))) unknown.push(key)
  }
  await objects.remove(unknown)
}
