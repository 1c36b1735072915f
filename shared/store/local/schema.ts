import type { DatabaseSync } from 'node:sqlite'

// Rows are JSON, written and read without losing a digit; columns stand beside for what is searched. `user_version` counts
// the steps below that were taken, so a newer program lifts an older file and an older program refuses a newer file.
const STEPS = [
  `CREATE TABLE heads (
     tenant TEXT NOT NULL, run_id TEXT NOT NULL, due_at INTEGER, head TEXT NOT NULL,
     PRIMARY KEY (tenant, run_id)
   ) WITHOUT ROWID;
   CREATE INDEX heads_due ON heads (due_at) WHERE due_at IS NOT NULL;
   CREATE TABLE cards (
     tenant TEXT NOT NULL, run_id TEXT NOT NULL, life INTEGER NOT NULL, tail INTEGER NOT NULL,
     created_at INTEGER NOT NULL, card TEXT NOT NULL,
     PRIMARY KEY (tenant, run_id)
   ) WITHOUT ROWID;
   CREATE INDEX cards_created ON cards (tenant, created_at, run_id);
   CREATE TABLE transfers (
     tenant TEXT NOT NULL, run_id TEXT NOT NULL, epoch INTEGER NOT NULL, transfer TEXT NOT NULL,
     PRIMARY KEY (tenant, run_id, epoch)
   ) WITHOUT ROWID;
   CREATE TABLE tokens (
     hash TEXT PRIMARY KEY, tenant TEXT NOT NULL, token_id TEXT NOT NULL, created_at INTEGER NOT NULL,
     last_used_at INTEGER, token TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX tokens_tenant ON tokens (tenant, created_at);`,
  `CREATE TABLE uploads (
     tenant TEXT NOT NULL, run_id TEXT NOT NULL, upload_id TEXT NOT NULL, expires_at INTEGER NOT NULL,
     upload TEXT NOT NULL,
     PRIMARY KEY (tenant, run_id, upload_id)
   ) WITHOUT ROWID;
   CREATE INDEX uploads_expiry ON uploads (expires_at);
   CREATE TABLE secrets (name TEXT PRIMARY KEY, secret BLOB NOT NULL) WITHOUT ROWID;`,
  `CREATE TABLE session_heads (
     tenant TEXT NOT NULL, name TEXT NOT NULL, harness TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
     listed_at INTEGER, due_at INTEGER, head TEXT NOT NULL,
     PRIMARY KEY (tenant, name)
   ) WITHOUT ROWID;
   CREATE INDEX session_heads_id ON session_heads (tenant, harness, id);
   CREATE INDEX session_heads_listed ON session_heads (tenant, listed_at, name) WHERE listed_at IS NOT NULL;
   CREATE INDEX session_heads_due ON session_heads (due_at) WHERE due_at IS NOT NULL;
   CREATE TABLE session_files (
     tenant TEXT NOT NULL, name TEXT NOT NULL, life INTEGER NOT NULL, path TEXT NOT NULL, version INTEGER NOT NULL,
     file TEXT NOT NULL,
     PRIMARY KEY (tenant, name, life, path)
   ) WITHOUT ROWID;
   CREATE TABLE session_generations (
     tenant TEXT NOT NULL, name TEXT NOT NULL, life INTEGER NOT NULL, path TEXT NOT NULL, generation INTEGER NOT NULL,
     version INTEGER NOT NULL, closed TEXT NOT NULL,
     PRIMARY KEY (tenant, name, life, path, generation)
   ) WITHOUT ROWID;`,
  `ALTER TABLE heads ADD COLUMN claim_at INTEGER;
   UPDATE heads SET head = json_set(head, '$.claim_at',
     iif(json_extract(head, '$.alive') AND NOT json_extract(head, '$.ended'),
       coalesce(json_extract(head, '$.lease.expires_at'), json_extract(head, '$.changed_at')), NULL));
   UPDATE heads SET claim_at = json_extract(head, '$.claim_at');
   CREATE INDEX heads_claim ON heads (tenant, claim_at) WHERE claim_at IS NOT NULL;`,
]

/** Brings the file to the schema of this program. Needs the write lock, so it also takes hold of the database. */
export function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (user_version > STEPS.length) {
    throw new Error(
      `the data folder is of a newer runfold (schema ${user_version}, this one knows ${STEPS.length})`,
    )
  }
  // Nothing is written where nothing is to be done, so that a server starts on a full disk and can be read.
  if (user_version < STEPS.length) {
    for (const step of STEPS.slice(user_version)) database.exec(step)
    database.exec(`PRAGMA user_version = ${STEPS.length}`)
  }
  database.exec('COMMIT')
}
