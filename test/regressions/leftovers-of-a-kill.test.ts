import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createArchive, createMaintainer } from '#store'
import { openLocalStore } from '#store/local'
import { manualClock } from '../kit/manual-clock.ts'
import { frameOf, LIMITS, StoredRun, say } from '../kit/stored-run.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'
import { uploadParts } from '../kit/upload-batch.ts'

// A server that was killed while it opened an upload left its marker, and one that was killed while it removed an object the
// facts beside it; nothing ever looked at either again.

const HOUR = 3_600_000

const opened = async (folder: string) => {
  const clock = manualClock(Date.now())
  const { ports, close } = await openLocalStore(folder, { clock })
  const archive = createArchive(ports, { clock, limits: LIMITS })
  return { clock, ports, close, archive, maintainer: createMaintainer(ports, clock) }
}

it('parts of uploads that the index does not know are gone with the next start, and no others', async () => {
  const folder = temporaryFolder()
  const killed = await opened(folder)
  const run = await StoredRun.begin(killed.archive)
  await run.append(say('before'))
  const { opened: known, parts } = await uploadParts(run, frameOf(randomBytes(1000)))
  const storage_id = await killed.ports.uploads.open('runs/default/run/u', { holder: 'somebody' })
  await killed.ports.objects.put(`uploads/${storage_id}-1-${'0'.repeat(64)}`, [randomBytes(10)], {})
  killed.close()

  const { archive, close } = await opened(folder)
  const left = readdirSync(path.join(folder, 'objects', 'uploads'))
  expect(left.filter((file) => file.startsWith(storage_id))).toEqual([])
  expect(left).toHaveLength(4)
  await archive.completeUpload(run.key, known.upload_id, { parts })
  expect(readdirSync(path.join(folder, 'objects', 'uploads'))).toEqual([])
  close()
})

it('an object of which only the facts are left is swept like the object', async () => {
  const folder = temporaryFolder()
  const { archive, ports, maintainer, clock, close } = await opened(folder)
  const run = await StoredRun.begin(archive)
  for (let n = 0; n < 5; n++) await run.append(say(`${n}`))
  await archive.release(run.key, run.epoch)
  await maintainer.pass()
  const at = path.join(folder, 'objects', 'runs', 'default', 'run')
  const replaced = readdirSync(at).filter((file) => /^0+-0{16}-/.test(file) && !file.endsWith('.json'))
  const [first = ''] = replaced.sort((a, b) => a.length - b.length)
  unlinkSync(path.join(at, first))
  expect(existsSync(path.join(at, `${first}~facts.json`))).toBe(true)
  clock.advance(HOUR)
  await maintainer.pass()
  expect(existsSync(path.join(at, `${first}~facts.json`))).toBe(false)
  expect(readdirSync(at).filter((file) => /^0/.test(file))).toHaveLength(2)
  expect(await run.stored()).toEqual(run.bytes)

  writeFileSync(path.join(at, 'Some-Other~facts.json'), '{}')
  const keys: string[] = []
  for await (const { key } of ports.objects.list('runs/')) keys.push(key)
  expect(keys.filter((key) => key.includes('facts'))).toEqual([])
  close()
})
