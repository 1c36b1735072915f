import { type Figures, rounded } from './figures.ts'
import { PER_GB_MONTH, PER_REQUEST, PER_UNIT, PRICES_OF } from './prices.ts'
import { type Bill, bill, dollarsOf, readsOf, writesOf } from './workload.ts'

const FRAME_BYTES = 4096
/** As many appends as show what their merges cost: 8 MiB merges, and for the larger batches 64 MiB merges of those. */
const CASES = [
  { batch: 1, appends: 10_000 },
  { batch: 10, appends: 4_000 },
  { batch: 100, appends: 600 },
]
const MILLION = 1e6

/** The design that any other is measured by: one PUT and one update of a 1 KB item a batch, and nothing is ever merged. */
const PLAIN_BATCH = (PER_REQUEST.put ?? 0) + (PER_UNIT.item_write ?? 0)

/**
 * What a million frames of 4 KiB cost on S3 and DynamoDB in requests, with merges and maintenance until nothing is due,
 * beside the plain design. Counted by the meter on ports in memory, so the figures are the same everywhere.
 */
export async function costBench(log: (line: string) => void): Promise<Figures> {
  log(`cost: prices of ${PRICES_OF}`)
  const figures: Figures = {}
  for (const { batch, appends } of CASES) {
    const counted = await bill({ appends, batch, frameBytes: FRAME_BYTES })
    const batches = MILLION / batch
    const dollars = (dollarsOf(counted.readings) / appends) * batches
    const plain = PLAIN_BATCH * batches
    figures[`batch${batch}_vs_plain`] = rounded(dollars / plain, 3)
    figures[`batch${batch}_usd_per_million_frames`] = rounded(dollars, 4)
    figures[`batch${batch}_plain_usd_per_million_frames`] = rounded(plain, 4)
    Object.assign(figures, perAppend(`batch${batch}`, counted))
  }
  figures.usd_per_gb_month = rounded(PER_GB_MONTH.objects, 3)
  return figures
}

function perAppend(name: string, { readings, appends, storedObjects, storedBytes }: Bill): Figures {
  const { heads, list, look, put, get, copy } = readings
  return {
    [`${name}_writes_per_append`]: rounded(writesOf(readings) / appends, 3),
    [`${name}_reads_per_append`]: rounded(readsOf(readings) / appends, 3),
    [`${name}_lists_per_append`]: rounded(list.requests / appends, 4),
    [`${name}_moved_bytes_vs_stored`]: rounded((put.bytes + get.bytes + copy.bytes) / storedBytes),
    [`${name}_objects`]: storedObjects,
    [`${name}_head_bytes_mean`]: rounded(heads.bytes / heads.written, 0),
    [`${name}_head_bytes_max`]: heads.largest,
    [`${name}_looks`]: look.requests,
  }
}
