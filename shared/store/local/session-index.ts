import type { DatabaseSync } from 'node:sqlite'
import { jsonText, parseJson } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import type { ClosedGeneration, FileItem, FilePlace, SessionHead, SessionIndex } from '../ports.ts'
import { namedSession, sessionName } from '../session-place.ts'
import type { GroupCommit } from './database.ts'

type Row = Record<string, unknown>
const read = <T>(text: unknown) => parseJson(String(text)) as T

/** The session index in SQLite: items as JSON, their version a column that each write compares. */
export function sqliteSessionIndex(database: DatabaseSync, commits: GroupCommit): SessionIndex {
  const sql = (text: string) => database.prepare(text)
  const getHead = sql('SELECT head FROM session_heads WHERE tenant = ? AND name = ?')
  const putHead = sql(`INSERT INTO session_heads (tenant, name, harness, id, version, listed_at, due_at, head)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
    WHERE ?5 = 1 + coalesce((SELECT version FROM session_heads WHERE tenant = ?1 AND name = ?2), 0)
    ON CONFLICT DO UPDATE SET version = excluded.version, listed_at = excluded.listed_at, due_at = excluded.due_at,
      head = excluded.head`)
  const getFile = sql(
    'SELECT file FROM session_files WHERE tenant = ? AND name = ? AND life = ? AND path = ?',
  )
  const putFile = sql(`INSERT INTO session_files (tenant, name, life, path, version, file)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6
    WHERE ?5 = 1 + coalesce(
      (SELECT version FROM session_files WHERE tenant = ?1 AND name = ?2 AND life = ?3 AND path = ?4), 0)
    ON CONFLICT DO UPDATE SET version = excluded.version, file = excluded.file`)
  const files = sql(`SELECT path, file FROM session_files
    WHERE tenant = ? AND name = ? AND life = ? AND path > ? ORDER BY path LIMIT ?`)
  const getClosed = sql(`SELECT closed FROM session_generations
    WHERE tenant = ? AND name = ? AND life = ? AND path = ? AND generation = ?`)
  const putClosed =
    sql(`INSERT INTO session_generations (tenant, name, life, path, generation, version, closed)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET version = excluded.version, closed = excluded.closed WHERE excluded.version >= version`)
  const generations = sql(`SELECT path, generation, closed FROM session_generations
    WHERE tenant = ? AND name = ? AND life = ? AND (path, generation) > (?, ?) ORDER BY path, generation LIMIT ?`)
  const forgetFiles = sql('DELETE FROM session_files WHERE tenant = ? AND name = ? AND life < ?')
  const forgetClosed = sql('DELETE FROM session_generations WHERE tenant = ? AND name = ? AND life < ?')
  const machines = sql(
    'SELECT name FROM session_heads WHERE tenant = ? AND harness = ? AND id = ? ORDER BY name',
  )
  const list = sql(`SELECT name, head FROM session_heads
    WHERE tenant = ? AND listed_at IS NOT NULL AND (listed_at, name) < (?, ?)
    ORDER BY listed_at DESC, name DESC LIMIT ?`)
  const due = sql('SELECT tenant, name FROM session_heads WHERE due_at <= ? ORDER BY due_at LIMIT ?')
  const every = sql(
    'SELECT tenant, name FROM session_heads WHERE (tenant, name) > (?, ?) ORDER BY tenant, name LIMIT ?',
  )

  const head = (session: SessionKey) => {
    const row = getHead.get(session.tenant, sessionName(session))
    return row && read<SessionHead>(row.head)
  }
  const sessionOf = (row: Row) => namedSession(String(row.tenant), String(row.name))
  const placeOf = (session: SessionKey, { life, path }: FilePlace) =>
    [session.tenant, sessionName(session), life, path] as const

  return {
    head: async (session) => head(session),
    heads: async (sessions) => sessions.map(head),
    putHead: (session, item) =>
      commits.write(() => {
        const { tenant, harness, id } = session
        const { version, listed_at, due_at } = item
        const name = sessionName(session)
        return putHead.run(tenant, name, harness, id, version, listed_at, due_at, jsonText(item)).changes > 0
      }),
    file: async (session, place) => {
      const row = getFile.get(...placeOf(session, place))
      return row && read<FileItem>(row.file)
    },
    putFile: (session, place, item) =>
      commits.write(() => putFile.run(...placeOf(session, place), item.version, jsonText(item)).changes > 0),
    async *files(session, life) {
      for await (const row of paged((last) =>
        files.all(session.tenant, sessionName(session), life, String(last?.path ?? ''), PAGE),
      )) {
        yield { path: String(row.path), file: read<FileItem>(row.file) }
      }
    },
    closed: async (session, place, generation) => {
      const row = getClosed.get(...placeOf(session, place), generation)
      return row && read<ClosedGeneration>(row.closed)
    },
    putClosed: (session, place, item) =>
      commits.write(() => {
        const { generation, version } = item
        putClosed.run(...placeOf(session, place), generation, version, jsonText(item))
      }),
    async *closedGenerations(session, life) {
      for await (const row of paged((last) => {
        const after = [String(last?.path ?? ''), Number(last?.generation ?? 0)] as const
        return generations.all(session.tenant, sessionName(session), life, ...after, PAGE)
      })) {
        yield { path: String(row.path), closed: read<ClosedGeneration>(row.closed) }
      }
    },
    forgetFiles: (session, before) =>
      commits.write(() => {
        forgetFiles.run(session.tenant, sessionName(session), before)
        forgetClosed.run(session.tenant, sessionName(session), before)
      }),
    machines: async (tenant, harness, id) =>
      machines.all(tenant, harness, id).map(({ name }) => namedSession(tenant, String(name)).machine),
    list: async (tenant, after, limit) => {
      const { listed_at, name } = after
        ? { listed_at: after.listed_at, name: sessionName(after.session) }
        : { listed_at: Number.MAX_SAFE_INTEGER, name: '' }
      return list.all(tenant, listed_at, name, limit).map((row) => ({
        session: namedSession(tenant, String(row.name)),
        head: read<SessionHead>(row.head),
      }))
    },
    due: async (now, limit) => due.all(now, limit).map(sessionOf),
    everySession: async (after, limit) =>
      every.all(after?.tenant ?? '', after ? sessionName(after) : '', limit).map(sessionOf),
  }
}

const PAGE = 500

/** Rows of a query that goes on behind the last one; a writer may come between two pages. */
async function* paged(query: (last: Row | undefined) => readonly Row[]): AsyncGenerator<Row> {
  let last: Row | undefined
  do {
    const rows = query(last)
    yield* rows
    last = rows.length === PAGE ? rows.at(-1) : undefined
  } while (last)
}
