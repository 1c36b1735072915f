import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listRuns } from '../../../../functions/daemon/watch/runs-folder.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'

describe('the runs of a folder', () => {
  it('are not hidden by a folder of the same name that has no archive', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'fix-login'))
    writeFileSync(join(folder, 'fix-login.lvr'), 'x')
    const { runs, folders, ignored } = await listRuns(folder)
    expect(runs).toEqual([{ run_id: 'fix-login', path: join(folder, 'fix-login.lvr') }])
    expect([folders, ignored]).toEqual([[join(folder, 'fix-login')], []])
  })

  it('are one where both have one, and the other is told', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'fix-login'))
    writeFileSync(join(folder, 'fix-login', 'run.lvr'), 'x')
    writeFileSync(join(folder, 'fix-login.lvr'), 'x')
    const { runs, ignored } = await listRuns(folder)
    expect(runs).toEqual([{ run_id: 'fix-login', path: join(folder, 'fix-login', 'run.lvr') }])
    expect(ignored).toMatchObject([{ path: join(folder, 'fix-login.lvr') }])
  })
})
