import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listRuns } from '../../functions/daemon/watch/runs-folder.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'

// A run in a folder whose name is no run_id was never sent, and nobody was told.

it('a folder that no run can be named after is told when an archive lies in it', async () => {
  const folder = temporaryFolder()
  for (const name of ['a run', '.git', 'fine']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'a run', 'run.lvr'), 'LVR1')
  const { runs, ignored } = await listRuns(folder)
  expect(runs.map(({ run_id }) => run_id)).toEqual(['fine'])
  expect(ignored).toEqual([
    { path: join(folder, 'a run', 'run.lvr'), detail: expect.stringContaining('a run_id is') },
  ])
})
