import { type Figures, rounded } from './figures.ts'
import { QUOTAS, QUOTAS_OF, type QuotaName } from './quotas.ts'
import { bill } from './workload.ts'

/** What is asked of one stage: so many daemons, each with a run of its own and an append a second. */
const DAEMONS = 10_000
const FRAME_BYTES = 4096
/** Appends by which the need of one is measured: merges, snapshots and the sweep are in it. */
const MEASURED = 2000

// How long things take on Lambda is assumed, not measured: an S3 PUT of 4 KiB some 30 ms, an item 5 ms, each twice at
// worst, and the rest of a request 10 ms. A visit of maintenance reads 32 objects, eight at once.
const APPEND_S = 0.08
const VISIT_S = 0.6
const APPENDS_A_VISIT = 32

/** The keys of the due list; each is a partition at least (shared/store/aws/attributes.ts). */
const DUE_SHARDS = 8

/** What the services are asked for by one daemon at one append a second. */
interface Need {
  readonly puts: number
  readonly gets: number
  readonly writeUnits: number
  readonly readUnits: number
}

/** How much of each quota so many daemons use, 1 is all of it. */
type Loads = Record<QuotaName, number>

/**
 * Where a stage breaks first as daemons are added, and what 10,000 of them need, by what the meter counts for one and
 * what the services give. Then a simulation second by second of all of them starting at once on a new stage, until
 * nobody waits.
 */
export async function capacityBench(log: (line: string) => void): Promise<Figures> {
  const need = await measureNeed()
  const now = loadsOf(need, DAEMONS)
  const breaks = (Object.keys(QUOTAS) as QuotaName[])
    .map((name) => ({ name, daemons: Math.floor(DAEMONS / now[name]) }))
    .sort((a, b) => a.daemons - b.daemons)
  log(`capacity: quotas of ${QUOTAS_OF}; a daemon needs ${JSON.stringify(need)} a second`)
  for (const { name, daemons } of breaks) {
    const { value, turn, source } = QUOTAS[name]
    const verdict = daemons < DAEMONS ? `breaks at ${daemons} daemons` : `holds to ${daemons} daemons`
    log(`  ${name} (${value}) ${verdict}; ${turn}; ${source}`)
  }
  const ways = {
    new_stage: simulate(need, NEW_STAGE),
    new_stage_lingering: simulate(need, NEW_STAGE, DAEMONS / LINGER_S),
    turned_stage: simulate(need, TURNED_STAGE),
  }
  for (const [name, { minutes, mostWaiting_s }] of Object.entries(ways)) {
    const until = minutes < LONGEST_S / 60 ? `after ${minutes} minutes` : 'not within a day'
    log(`  ${name}: nobody waits any more ${until}; the longest wait is ${mostWaiting_s} s`)
  }
  return {
    capacity_daemons: DAEMONS,
    ...Object.fromEntries(breaks.map(({ name, daemons }) => [`breaks_at_${name}`, daemons])),
    first_break_daemons: breaks[0]?.daemons ?? 0,
    needed_puts_per_s: rounded(need.puts * DAEMONS, 0),
    needed_gets_per_s: rounded(need.gets * DAEMONS, 0),
    needed_write_units_per_s: rounded(need.writeUnits * DAEMONS, 0),
    needed_read_units_per_s: rounded(need.readUnits * DAEMONS, 0),
    needed_concurrency: rounded(concurrencyOf(DAEMONS), 0),
    needed_s3_partitions: Math.ceil(Math.max(now.s3_writes_per_prefix, now.s3_reads_per_prefix)),
    ...Object.fromEntries(
      Object.entries(ways).flatMap(([name, { minutes, mostWaiting_s }]) => [
        [`${name}_minutes_until_nobody_waits`, minutes],
        [`${name}_longest_wait_s`, mostWaiting_s],
      ]),
    ),
  }
}

/** Every process of the function is another, so an append reads the head and the token that a single server would know. */
const READS_OF_A_STRANGER = 2

async function measureNeed(): Promise<Need> {
  const { readings, appends } = await bill({ appends: MEASURED, batch: 1, frameBytes: FRAME_BYTES })
  const per = (units: number) => rounded(units / appends, 3)
  const { put, post, copy, get, item_write, item_read, query } = readings
  return {
    puts: per(put.requests + post.requests + copy.requests),
    gets: per(get.requests),
    writeUnits: per(item_write.units),
    readUnits: rounded((item_read.units + query.units) / appends + READS_OF_A_STRANGER, 3),
  }
}

const concurrencyOf = (daemons: number) => daemons * (APPEND_S + VISIT_S / APPENDS_A_VISIT)

function loadsOf({ puts, gets, writeUnits, readUnits }: Need, daemons: number): Loads {
  const of = (name: QuotaName, asked: number) => asked / QUOTAS[name].value
  return {
    s3_writes_per_prefix: of('s3_writes_per_prefix', puts * daemons),
    s3_reads_per_prefix: of('s3_reads_per_prefix', gets * daemons),
    dynamodb_writes_new_table: of('dynamodb_writes_new_table', writeUnits * daemons),
    dynamodb_reads_new_table: of('dynamodb_reads_new_table', readUnits * daemons),
    dynamodb_writes_per_table: of('dynamodb_writes_per_table', writeUnits * daemons),
    dynamodb_reads_per_table: of('dynamodb_reads_per_table', readUnits * daemons),
    // A run is a partition of its own; what many runs share is the due list: a row taken away and one put, twice a visit.
    dynamodb_writes_per_partition: of(
      'dynamodb_writes_per_partition',
      (4 * daemons) / APPENDS_A_VISIT / DUE_SHARDS,
    ),
    lambda_concurrency: of('lambda_concurrency', concurrencyOf(daemons)),
    lambda_requests_per_process:
      daemons / (QUOTAS.lambda_requests_per_process.value * QUOTAS.lambda_concurrency.value),
    lambda_starts_per_10_s: of('lambda_starts_per_10_s', concurrencyOf(daemons)),
  }
}

interface Stage {
  readonly writeUnits: number
  readonly readUnits: number
  readonly partitions: number
  readonly concurrency: number
}

const NEW_STAGE: Stage = {
  writeUnits: QUOTAS.dynamodb_writes_new_table.value,
  readUnits: QUOTAS.dynamodb_reads_new_table.value,
  partitions: 1,
  concurrency: QUOTAS.lambda_concurrency.value,
}

/** What an operator sets before so many daemons come (docs/OPERATIONS.md, Capacity). */
const TURNED_STAGE: Stage = { writeUnits: 40_000, readUnits: 40_000, partitions: 4, concurrency: 3000 }

/** Daemons that gather what they have for so long append that much less often, and no byte less. */
const LINGER_S = 5

/** On demand a table gives twice its former peak, half an hour after it; a prefix under load splits within an hour. */
const TABLE_DOUBLES_S = 1800
const PREFIX_SPLITS_S = 2700
const LONGEST_S = 24 * 3600

interface Wait {
  /** Until nobody waits any more; a day where that never comes. */
  readonly minutes: number
  /** The longest that anybody waits, if what came first is served first. */
  readonly mostWaiting_s: number
}

/**
 * All daemons begin in the same second. What is not served is asked for again, so that it adds to the next second's
 * appends. (A daemon that waits sends what it has as one larger batch; here each append stays one of its own.)
 *
 * @param perSecond appends that are made
 */
function simulate(need: Need, stage: Stage, perSecond = DAEMONS): Wait {
  let { writeUnits, readUnits, partitions } = stage
  let processes = 0
  let waiting = 0
  let mostWaiting_s = 0
  for (let second = 1; second <= LONGEST_S; second++) {
    processes = Math.min(stage.concurrency, processes + QUOTAS.lambda_starts_per_10_s.value / 10)
    if (second % TABLE_DOUBLES_S === 0) {
      writeUnits = Math.min(writeUnits * 2, QUOTAS.dynamodb_writes_per_table.value)
      readUnits = Math.min(readUnits * 2, QUOTAS.dynamodb_reads_per_table.value)
    }
    if (second % PREFIX_SPLITS_S === 0) partitions *= 2
    const servable = Math.min(
      processes / concurrencyOf(1),
      processes * QUOTAS.lambda_requests_per_process.value,
      (partitions * QUOTAS.s3_writes_per_prefix.value) / need.puts,
      (partitions * QUOTAS.s3_reads_per_prefix.value) / need.gets,
      writeUnits / need.writeUnits,
      readUnits / need.readUnits,
    )
    waiting = Math.max(0, perSecond + waiting - servable)
    mostWaiting_s = Math.max(mostWaiting_s, rounded(waiting / servable, 0))
    if (waiting === 0) return { minutes: rounded(second / 60, 1), mostWaiting_s }
  }
  return { minutes: LONGEST_S / 60, mostWaiting_s }
}
