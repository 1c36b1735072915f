import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'

const SECRET_BYTES = 32

/** What signs the URLs of parts: made once, so that URLs outlive a restart. */
export function urlSecret(database: DatabaseSync): Uint8Array<ArrayBuffer> {
  database
    .prepare("INSERT INTO secrets (name, secret) VALUES ('part-urls', ?) ON CONFLICT DO NOTHING")
    .run(randomBytes(SECRET_BYTES))
  const row = database.prepare("SELECT secret FROM secrets WHERE name = 'part-urls'").get()
  return row?.secret as Uint8Array<ArrayBuffer>
}
