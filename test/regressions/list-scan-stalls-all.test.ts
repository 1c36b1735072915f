import { expect, it, onTestFinished } from 'vitest'
import { listQuery, SCAN_BUDGET } from '#schema'
import { EMPTY_CARD } from '../../shared/fold/card.ts'
import { cardRow } from '../../shared/store/card-row.ts'
import { listRuns } from '../../shared/store/list.ts'
import { StoredRun, testArchive } from '../kit/stored-run.ts'

// A search that finds nothing looks at 10,000 cards. The local index answers at once, so all of it was one chain of
// microtasks: every other request, /v1/health too, waited 160 to 300 ms for it.

const SCAN_MS = 25

it('while a search looks at many cards, others have their turn', async () => {
  const { archive, clock, ports } = testArchive()
  await StoredRun.begin(archive, 'a')
  const run = { tenant: 'default', run_id: 'a' }
  const head = await ports.index.head(run)
  if (!head) throw new Error('the run was not made')
  const row = cardRow(run, head, EMPTY_CARD)
  const cards = async (_tenant: string, { limit }: { limit: number }) => {
    for (const until = performance.now() + SCAN_MS; performance.now() < until; );
    return Array<typeof row>(limit).fill(row)
  }
  let turns = 0
  const other = setInterval(() => turns++)
  onTestFinished(() => clearInterval(other))
  const parts = { ports: { ...ports, index: { ...ports.index, cards } }, clock, limits: archive.limits }
  const { scan_truncated } = await listRuns(parts, 'default', listQuery.parse({ q: 'nowhere' }))
  expect(scan_truncated).toBe(true)
  expect(turns).toBeGreaterThanOrEqual(SCAN_BUDGET / 500 - 1)
})
