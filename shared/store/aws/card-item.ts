import type { RunKey } from '../../schema/index.ts'
import type { CardRow } from '../ports.ts'
import { fromAttribute, type Item, type Plain, toAttribute } from './attribute-value.ts'
import { BY_CREATION, CARD, listPartitionOf, madeAt, PK, runOf, runPk, SK } from './attributes.ts'

// A card is an item of its own, so that neither appends nor listings pay for what the other needs. A card taken out of
// the listing leaves its life behind: a writer that comes late must not bring it back.

export const cardKey = (run: RunKey): Item => ({ [PK]: { S: runPk(run) }, [SK]: { S: CARD } })

export const cardItem = (row: CardRow): Item => ({
  ...cardKey(row.run),
  [BY_CREATION.partition]: { S: listPartitionOf(row.run) },
  [BY_CREATION.sort]: { S: madeAt({ created_at: row.created_at, run_id: row.run.run_id }) },
  life: toAttribute(row.life),
  tail: toAttribute(row.tail),
  created_at: toAttribute(row.created_at),
  card: toAttribute(row.card as Plain),
  workdir: toAttribute(row.workdir),
})

/** Undefined for a card that was taken out. */
export function cardOf(item: Item): CardRow | undefined {
  if (!item.card) return undefined
  const read = (name: string) => fromAttribute(item[name] ?? { NULL: true })
  return {
    run: runOf(String(read(PK))),
    life: read('life') as number,
    tail: read('tail') as number,
    created_at: read('created_at') as number,
    card: read('card') as unknown as CardRow['card'],
    workdir: read('workdir') as string | null,
  }
}

const nothingThere = `attribute_not_exists(${PK})`
const olderLife = 'life < :life'
const sameLife = 'life = :life'
const stillListed = 'attribute_exists(card)'
const tailNotBack = 'tail <= :tail'

/** The listing goes forward only: to a younger life, or within one to the same or a longer archive. */
export const newerCard = (row: CardRow) => ({
  ConditionExpression: [nothingThere, olderLife, `(${sameLife} AND ${stillListed} AND ${tailNotBack})`].join(
    ' OR ',
  ),
  ExpressionAttributeValues: { ':life': toAttribute(row.life), ':tail': toAttribute(row.tail) },
})

/** Writes what is left of a card over it, unless a younger life has one. */
export const cardTombstone = (run: RunKey, life: number) => ({
  Item: { ...cardKey(run), life: toAttribute(life) },
  ConditionExpression: [nothingThere, olderLife, sameLife].join(' OR '),
  ExpressionAttributeValues: { ':life': toAttribute(life) },
})
