import type { Client } from '#client'
import { type Card, LIST_LIMIT } from '#schema'
import { countingNumber, examples, type Verb } from '../command.ts'
import { tellMore } from '../more.ts'
import type { Output } from '../output.ts'
import type { Session } from '../session.ts'
import { printTable } from '../table.ts'
import { unixTime } from '../time.ts'

interface LsOptions {
  readonly status?: string
  readonly agent?: string
  readonly machine?: string
  readonly parent?: string
  readonly q?: string
  readonly since?: string
  readonly order?: string
  readonly limit: number
  readonly all?: boolean
}

export const ls: Verb = (program, act) =>
  program
    .command('ls')
    .summary('list runs')
    .description('Lists runs, newest first. With --json a run a line.')
    .option('--status <list>', 'comma list: running, waiting_input, complete, error, …')
    .option('--agent <name>', 'of this agent')
    .option('--machine <id>', 'of the machine with this id')
    .option('--parent <run>', 'children of this run; none for runs without a parent')
    .option('-q, --q <text>', 'with this text in title, task, agent, run id, workdir or error')
    .option('--since <time>', 'made at or after this time (RFC 3339)')
    .option('--order <order>', 'desc or asc by time of creation', 'desc')
    .option('-n, --limit <n>', 'show at most this many', countingNumber, LIST_LIMIT.default)
    .option('--all', 'show all of them')
    .addHelpText('after', examples('ls', 'ls --status running,waiting_input', 'ls -q deploy --all --json'))
    .action(
      act(async (session, options: LsOptions) => {
        const { limit, all, ...filters } = options
        const end = { hasMore: false }
        const cards = listCards(await session.client(), filters, all ? Infinity : limit, end)
        await (session.json ? printLines(session.out, cards) : printCards(session, cards))
        if (end.hasMore) await tellMore(session, limit)
        return undefined
      }),
    )

/** Walks the pages; a page may be empty while more follow (API.md, Runs). */
async function* listCards(
  client: Client,
  filters: Omit<LsOptions, 'limit' | 'all'>,
  limit: number,
  end: { hasMore: boolean },
): AsyncGenerator<Card> {
  let left = limit
  let cursor: string | undefined
  do {
    const page = await client.list({ ...filters, limit: Math.min(left, LIST_LIMIT.max), cursor })
    yield* page.items
    left -= page.items.length
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && left > 0)
  end.hasMore = cursor !== undefined
}

const printLines = async (out: Output, cards: AsyncIterable<Card>): Promise<void> => {
  for await (const card of cards) await out.json(card)
}

const printCards = (session: Session, cards: AsyncIterable<Card>): Promise<void> =>
  printTable(
    session.out,
    [
      { title: 'RUN', value: (card) => card.run_id, width: 60 },
      { title: 'STATUS', value: (card) => card.status },
      { title: 'AGENT', value: (card) => card.agent_name, width: 20 },
      { title: 'STAGE', value: (card) => card.current_stage, width: 16 },
      { title: 'ITER', value: (card) => card.iteration, align: 'right' },
      { title: 'UPDATED', value: (card) => unixTime(card.updated_at) },
      { title: 'TITLE', value: (card) => card.error ?? card.title ?? card.task, width: 60 },
    ],
    cards,
    'no runs',
  )
