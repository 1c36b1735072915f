import { createHash } from 'node:crypto'
import type { RunKey } from '../../schema/index.ts'
import type { CardPlace } from '../ports.ts'

// Every key of the table is spelled here. One table holds:
//
//   pk                        sk                     item
//   run#<tenant>/<run_id>     head                   the head; in by_due and by_claim while it has their times
//   run#<tenant>/<run_id>     card                   the card; in by_creation while it is listed
//   run#<tenant>/<run_id>     requires#<hash>        what the run requires, where it is long
//   run#<tenant>/<run_id>     transfer#<epoch>       a change of the lease's holder
//   run#<tenant>/<run_id>     upload#<upload_id>     an open upload; in by_due by its expiry, apart from the heads
//   parts#<storage_id>        parts                  an open multipart upload of our own; in by_due likewise
//   token#<hash>              token                  a token
//   tokens#<tenant>           <token_id>             where a tenant's token stands
//   session#<tenant>/…        …                      sessions (session-items.ts)
//
// Tenants and run_ids hold neither `#` nor `/`.

/** Names of the key attributes. */
export const PK = 'pk'
export const SK = 'sk'
/** The sparse indexes; `list`, `due` and `claim` are their sharded partitions, `made`, `due_at` and `claim_at` their order. */
export const BY_CREATION = { name: 'by_creation', partition: 'list', sort: 'made' } as const
export const BY_DUE = { name: 'by_due', partition: 'due', sort: 'due_at' } as const
export const BY_CLAIM = { name: 'by_claim', partition: 'claim', sort: 'claim_at' } as const

/** Partitions of a tenant's listing, of its waiting runs and of the due list, so that no one of them is hot. More can only be had by rebuilding. */
export const SHARDS = 8

/** What the newest commit wrote on the head, to be known by it. */
export const STAMP = 'stamp'

const RUN = 'run#'
/** Digits of numbers in keys, so that the order of texts is theirs. */
export const DIGITS = 16
export const padded = (n: number): string => String(n).padStart(DIGITS, '0')

export const runPk = (run: RunKey): string => `${RUN}${run.tenant}/${run.run_id}`

/** The run whose items have this `pk`. */
export function runOf(pk: string): RunKey {
  const slash = pk.indexOf('/')
  return { tenant: pk.slice(RUN.length, slash), run_id: pk.slice(slash + 1) }
}

export const HEAD = 'head'
export const CARD = 'card'
export const TRANSFER = 'transfer#'
export const transferSk = (epoch: number): string => TRANSFER + padded(epoch)

export const requiresSk = (name: string): string => `requires#${name}`

export const UPLOAD = 'upload#'
export const uploadSk = (upload_id: string): string => UPLOAD + upload_id

export const PARTS = 'parts'
export const partsPk = (storage_id: string): string => `parts#${storage_id}`

export const TOKEN = 'token'
export const tokenPk = (hash: string): string => `token#${hash}`
export const tokensPk = (tenant: string): string => `tokens#${tenant}`

const shardOf = (run: RunKey): number => shardOfPk(runPk(run))
const shardOfPk = (pk: string): number => createHash('sha256').update(pk).digest().readUInt32BE() % SHARDS

export const listPartition = (tenant: string, shard: number): string => `${tenant}#${shard}`
export const listPartitionOf = (run: RunKey): string => listPartition(run.tenant, shardOf(run))
export const duePartition = (shard: number): string => `due#${shard}`
export const duePartitionOf = (run: RunKey): string => duePartition(shardOf(run))

export const claimPartition = (tenant: string, shard: number): string => `${tenant}#${shard}`
export const claimPartitionOf = (run: RunKey): string => claimPartition(run.tenant, shardOf(run))

export const uploadsPartition = (shard: number): string => `uploads#${shard}`
/** Of the item with this `pk`. */
export const uploadsPartitionOf = (pk: string): string => uploadsPartition(shardOfPk(pk))

/** Order of the listing: server time of creation, then run_id; neither ever changes. */
export const madeAt = ({ created_at, run_id }: CardPlace): string => `${padded(created_at)}#${run_id}`
