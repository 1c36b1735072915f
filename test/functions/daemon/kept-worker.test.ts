import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keptWorker } from '../../../functions/daemon/kept-worker.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

describe('who a machine is', () => {
  it('is made once, whoever comes first', async () => {
    const path = join(temporaryFolder(), 'deep', 'worker.json')
    const [one, other] = await Promise.all([keptWorker(path), keptWorker(path)])
    expect(other).toEqual(one)
    expect(await keptWorker(path)).toEqual(one)
    expect(readdirSync(join(path, '..'))).toEqual(['worker.json'])
  })

  it.each(['', '{"machine_id":"m"', '{"machine_id":"m"}', '4711'])(
    'is made anew where a power cut or a mistake has left %j',
    async (left) => {
      const path = join(temporaryFolder(), 'worker.json')
      writeFileSync(path, left)
      const made = await keptWorker(path)
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(made)
      expect(await keptWorker(path)).toEqual(made)
      expect(readdirSync(join(path, '..'))).toEqual(['worker.json'])
    },
  )

  it('says why it cannot be made', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    await expect(keptWorker(join(file, 'worker.json'))).rejects.toThrow(/ENOTDIR|EEXIST/)
  })
})
