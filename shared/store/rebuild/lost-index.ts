import { parseObjectKey, RUNS_PREFIX, runOfKey } from '../keys.ts'
import type { StorePorts } from '../ports.ts'

/**
 * Whether the objects hold archive bytes while the index knows of no run, not even a deleted one. Nobody may write then: a
 * run made anew under an old name would keep `rebuild` from giving the old one back, and the sweep would remove its bytes.
 */
export async function isIndexLost({ index, objects }: StorePorts): Promise<boolean> {
  if ((await index.everyRun(undefined, 1)).length > 0) return false
  for await (const { key } of objects.list(RUNS_PREFIX)) {
    const run = runOfKey(key)
    // A manifest alone proves nothing: it is written before the first commit of a run.
    if (run && parseObjectKey(run, key)) return true
  }
  return false
}
