import { UsageTally } from '../fold/index.ts'
import type { UsageAnswer } from '../schema/index.ts'
import { BEGINNING, frameBatchesFrom } from './reading/frames.ts'
import { recordReader } from './reading/record-reader.ts'
import type { ArchiveView } from './reading/view.ts'

/** What the run has used, from all of its records; unreadable ones tell nothing. */
export async function usageAnswer(view: ArchiveView): Promise<UsageAnswer> {
  const tally = new UsageTally()
  const read = recordReader(view)
  for await (const frames of frameBatchesFrom(view, BEGINNING)) {
    for (const { payload } of frames) {
      const record = read(payload)
      if (record) tally.add(record)
    }
  }
  return { run_id: view.run.run_id, ...tally.value() }
}
