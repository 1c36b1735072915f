import { createHash } from 'node:crypto'
import { jsonText, parseJson } from '../../codec/index.ts'
import type { SessionKey } from '../../schema/index.ts'
import type { ClosedGeneration, FileItem, FilePlace, SessionHead, SessionPlace } from '../ports.ts'
import { sessionName } from '../session-place.ts'
import type { Item } from './attribute-value.ts'
import { BY_CREATION, BY_DUE, DIGITS, PK, padded, SHARDS, SK } from './attributes.ts'
import { extentsAttribute, extentsOf } from './extent-text.ts'

// The items of sessions, in the table of the runs. One id on several machines is one partition, so that they are found
// by one query:
//
//   pk                              sk                                        item
//   session#<tenant>/<harness>/<id> head#<machine>                            the head; in by_due while it has a due_at,
//                                                                             in by_creation while it is listed
//   session#<tenant>/<harness>/<id> file#<machine>#<life>#<path>              the newest generation of a path
//   session#<tenant>/<harness>/<id> closed#<machine>#<life>#<path>#<number>   a generation before it
//
// Tenants, harnesses and machines hold neither `#` nor `/`; lives and numbers have a fixed width.

const SESSION = 'session#'

export const HEAD_SK = 'head#'

export const sessionPk = ({ tenant, harness, id }: Omit<SessionKey, 'machine'>): string =>
  `${SESSION}${tenant}/${harness}/${id}`

export const headKey = (session: SessionKey): Item => ({
  [PK]: { S: sessionPk(session) },
  [SK]: { S: HEAD_SK + session.machine },
})

/** Whose head an item with these keys is. */
export function sessionOf(item: Item): SessionKey {
  const [tenant = '', harness = ''] = (item[PK]?.S ?? '').slice(SESSION.length).split('/', 2)
  const id = (item[PK]?.S ?? '').slice(SESSION.length + tenant.length + harness.length + 2)
  const machine = (item[SK]?.S ?? '').slice(HEAD_SK.length)
  return { tenant, harness: harness as SessionKey['harness'], id, machine }
}

export type FileKind = 'file' | 'closed'

/** What all items of this kind, of one machine, begin with. */
export const filesSk = (kind: FileKind, { machine }: SessionKey): string => `${kind}#${machine}#`
export const lifeSk = (kind: FileKind, session: SessionKey, life: number): string =>
  `${filesSk(kind, session)}${padded(life)}#`

export const fileKey = (session: SessionKey, { life, path }: FilePlace): Item => ({
  [PK]: { S: sessionPk(session) },
  [SK]: { S: lifeSk('file', session, life) + path },
})

export const closedKey = (session: SessionKey, { life, path }: FilePlace, generation: number): Item => ({
  [PK]: { S: sessionPk(session) },
  [SK]: { S: `${lifeSk('closed', session, life)}${path}#${padded(generation)}` },
})

/** The path in the sort key of a file or a closed generation. */
export const pathIn = (kind: FileKind, session: SessionKey, life: number, item: Item): string => {
  const rest = (item[SK]?.S ?? '').slice(lifeSk(kind, session, life).length)
  return kind === 'file' ? rest : rest.slice(0, -DIGITS - 1)
}

const shardOf = (session: SessionKey): number =>
  createHash('sha256')
    .update(`${session.tenant}/${sessionName(session)}`)
    .digest()
    .readUInt32BE() % SHARDS

export const sessionsPartition = (tenant: string, shard: number): string => `sessions#${tenant}#${shard}`
export const sessionsDuePartition = (shard: number): string => `sessions-due#${shard}`

/** The order of the listing: when it was listed, in ms, and then its name. */
export const listedAt = ({ listed_at, session }: SessionPlace): string =>
  `${padded(listed_at)}#${sessionName(session)}`

// The body is JSON, but for extents, which are many and have a shorter form.
const BODY = 'body'
const EXTENTS = 'ex'
const VERSION = 'version'

const bodyOf = <T>(item: Item): T => parseJson(item[BODY]?.S ?? 'null') as T

/** The item of a session's head, in the indexes it belongs to. */
export function headItem(session: SessionKey, head: SessionHead): Item {
  const { listed_at, due_at } = head
  return {
    ...headKey(session),
    [VERSION]: { N: String(head.version) },
    [BODY]: { S: jsonText(head) },
    ...(listed_at !== null && {
      [BY_CREATION.partition]: { S: sessionsPartition(session.tenant, shardOf(session)) },
      [BY_CREATION.sort]: { S: listedAt({ listed_at, session }) },
    }),
    ...(due_at !== null && {
      [BY_DUE.partition]: { S: sessionsDuePartition(shardOf(session)) },
      [BY_DUE.sort]: { N: String(due_at) },
    }),
  }
}

export const headOf = (item: Item): SessionHead => bodyOf(item)

/** Of a file or a closed generation. */
export function fileItem(key: Item, { extents, ...body }: FileItem | ClosedGeneration): Item {
  return {
    ...key,
    [VERSION]: { N: String(body.version) },
    [BODY]: { S: jsonText(body) },
    [EXTENTS]: extentsAttribute(extents),
  }
}

export const fileOf = <T extends FileItem | ClosedGeneration>(item: Item): T =>
  ({ ...bodyOf<T>(item), extents: extentsOf(item[EXTENTS]) }) as T

/** Holds where the item's predecessor stands: the one of the version before, or none before the first. */
export const succeeding = (version: number) =>
  version === 1
    ? { ConditionExpression: `attribute_not_exists(${PK})` }
    : {
        ConditionExpression: '#version = :before',
        ExpressionAttributeNames: { '#version': VERSION },
        ExpressionAttributeValues: { ':before': { N: String(version - 1) } },
      }

/** Holds where none of a later version stands. */
export const notOlder = (version: number) => ({
  ConditionExpression: `attribute_not_exists(${PK}) OR #version <= :version`,
  ExpressionAttributeNames: { '#version': VERSION },
  ExpressionAttributeValues: { ':version': { N: String(version) } },
})
