import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createArchive, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { LIMITS, StoredRun, say } from '../kit/stored-run.ts'

/**
 * A local store whose index knows `count` runs beside one that was written for real: theirs are its head and card under
 * other names and times of creation, put straight into the database, since a million commits would wait a million times
 * for the disk. They have no objects: what is measured reads the index only.
 */
export async function writeManyRuns(folder: string, count: number): Promise<void> {
  const { ports, close } = await openLocalStore(folder)
  try {
    const run = await StoredRun.begin(createArchive(ports, { clock: systemClock, limits: LIMITS }), 'run')
    await run.append(say('the one that is there'))
    await run.archive.release(run.key, run.epoch)
  } finally {
    close()
  }
  const database = new DatabaseSync(join(folder, 'index.sqlite'))
  try {
    database.exec(MANY(count))
  } finally {
    database.close()
  }
}

const MANY = (count: number) => `
  BEGIN;
  CREATE TEMP TABLE numbers AS
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n;
  INSERT INTO heads (tenant, run_id, due_at, head)
    SELECT tenant, printf('run-%07d', i), NULL, head FROM numbers, (SELECT * FROM heads WHERE run_id = 'run');
  INSERT INTO cards (tenant, run_id, life, tail, created_at, card)
    SELECT tenant, printf('run-%07d', i), life, tail, created_at + i,
      json_set(card, '$.run.run_id', printf('run-%07d', i), '$.created_at', created_at + i,
        '$.card.title', printf('Task number %d of many', i), '$.card.agent_name', printf('agent-%d', i % 7))
    FROM numbers, (SELECT * FROM cards WHERE run_id = 'run');
  COMMIT;`
