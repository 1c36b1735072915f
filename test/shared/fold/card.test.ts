import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CARD_TEXT_BYTES, cardOfState, cardStep, cutText, EMPTY_CARD, type Folding, fold } from '#fold'
import type { JournalRecord } from '#schema'
import { demoMeta } from '../../../functions/cli/demo-meta.ts'
import { demoRecords } from '../../../functions/cli/demo-run.ts'
import { anyRecord, assertProperty } from '../../kit/arbitraries.ts'
import { heldAll } from './kit.ts'

const cardOf = (records: Iterable<JournalRecord>) => heldAll(records).reduce(cardStep, EMPTY_CARD)
const header: JournalRecord = {
  Header: {
    identity: { run_id: 'r', machine_id: 'm', world_id: 'w', created_at: 1 },
    meta: { ...demoMeta(1), prompt_tokens: 2n ** 63n, workdir: '/w' },
  },
}

describe('the card', () => {
  it('shows what the newest records say', () => {
    const card = cardOf([
      header,
      { OwnershipChanged: { machine_id: 'm2', world_id: 'w2', at: 1 } },
      { StatusChanged: { status: 'paused', at: 2 } },
    ])
    expect(card).toMatchObject({
      headed: true,
      agent_name: 'demo-coder',
      status: 'paused',
      machine_id: 'm2',
      world_id: 'w2',
      prompt_tokens: 2n ** 63n,
      workdir: '/w',
    })
  })

  it('ends as the whole run ends', () => {
    const card = cardOf(demoRecords({ seed: 3, records: 120 }))
    expect(card.status).toBe('complete')
    expect(Number(card.iteration)).toBeGreaterThan(5)
  })

  it('knows nothing before a Header, and nothing ever of a run that does not begin with one', () => {
    expect(cardOf([])).toEqual(EMPTY_CARD)
    const headless = cardOf([{ StatusChanged: { status: 'running', at: 1 } }, header])
    expect(headless).toEqual({ ...EMPTY_CARD, headed: false })
  })

  it('of a state is what the steps to it have left', () => {
    assertProperty(
      fc.property(fc.boolean(), fc.array(anyRecord, { maxLength: 20 }), (isHeaded, rest) => {
        const records = isHeaded ? [header, ...rest] : rest
        const state = heldAll(records).reduce<Folding>((folding, record) => fold(folding, record), undefined)
        expect(cardOfState(state)).toEqual(cardOf(records))
      }),
    )
  })

  it('cuts long texts between characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'ü', '日', '🚀'), maxLength: 2000 }), (text) => {
        const cut = cutText(text)
        const bytes = new TextEncoder().encode(cut).length
        expect(text.startsWith(cut)).toBe(true)
        expect(cut.isWellFormed()).toBe(true)
        expect(bytes).toBeLessThanOrEqual(CARD_TEXT_BYTES)
        if (cut !== text) expect(bytes).toBeGreaterThan(CARD_TEXT_BYTES - 4)
      }),
    )
  })
})
