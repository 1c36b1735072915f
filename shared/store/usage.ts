import { readRecord, scanRecord, Unreadable } from '../codec/index.ts'
import { UsageTally } from '../fold/index.ts'
import type { UsageAnswer } from '../schema/index.ts'
import { BEGINNING, framesFrom } from './reading/frames.ts'
import type { ArchiveView } from './reading/view.ts'

/** What the run has used, from all of its records; unreadable ones tell nothing. */
export async function usageAnswer(view: ArchiveView): Promise<UsageAnswer> {
  const tally = new UsageTally()
  for await (const { payload } of framesFrom(view, BEGINNING)) {
    const scan = scanRecord(payload)
    if (!(scan instanceof Unreadable) && tally.wants(scan.kind)) tally.add(readRecord(payload))
  }
  return { run_id: view.run.run_id, ...tally.value() }
}
