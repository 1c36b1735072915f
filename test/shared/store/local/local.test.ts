import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { createArchive, createMaintainer, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { decode, encode } from '../../../../shared/store/local/file-name.ts'
import { LIMITS, StoredRun, say } from '../../../kit/stored-run.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'

const archiveOn = (store: Awaited<ReturnType<typeof openLocalStore>>) =>
  createArchive(store.ports, { clock: systemClock, limits: LIMITS })

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))

describe('a folder', () => {
  it('gives everything back when it is opened again', async () => {
    const folder = temporaryFolder()
    const store = await openLocalStore(folder)
    const run = await StoredRun.begin(archiveOn(store), 'Run-A')
    for (let i = 0; i < 5; i++) await run.append(say(`${i}`))
    const before = await run.archive.run(run.key)
    store.close()

    const again = await openLocalStore(folder)
    const archive = archiveOn(again)
    expect(await archive.run(run.key)).toEqual(before)
    const view = await archive.view(run.key)
    expect((await view.bytes(0, run.tail)[Symbol.asyncIterator]().next()).value?.length).toBeGreaterThan(0)
    expect(await archive.append(run.key, { offset: 0, epoch: run.epoch, bytes: run.bytes })).toMatchObject({
      replayed: true,
    })
    again.close()
  })

  it('holds archive bytes as they are, in files of their own', async () => {
    const folder = temporaryFolder()
    const store = await openLocalStore(folder)
    const run = await StoredRun.begin(archiveOn(store))
    for (let i = 0; i < 3; i++) await run.append(say(`${i}`))
    const objects = files(path.join(folder, 'objects'))
      .filter((file) => /^\d/.test(path.basename(file)) && !file.endsWith('~facts.json'))
      .toSorted()
    const { readFileSync } = await import('node:fs')
    expect(Buffer.concat(objects.map((file) => readFileSync(file)))).toEqual(Buffer.from(run.bytes))
    store.close()
  })

  it('is refused while another server uses it', async () => {
    const folder = temporaryFolder()
    const store = await openLocalStore(folder)
    await expect(openLocalStore(folder)).rejects.toThrow(/another runfold server uses/)
    store.close()
    ;(await openLocalStore(folder)).close()
  })

  it('of a newer program is refused', async () => {
    const folder = temporaryFolder()
    ;(await openLocalStore(folder)).close()
    const database = new DatabaseSync(path.join(folder, 'index.sqlite'))
    database.exec('PRAGMA user_version = 99')
    database.close()
    await expect(openLocalStore(folder)).rejects.toThrow(/newer runfold \(schema 99/)
  })

  it.skipIf(process.getuid?.() === 0)('that cannot be written is refused with its name', async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o500)
    await expect(openLocalStore(folder)).rejects.toThrow(`the data folder ${folder} cannot be written`)
    chmodSync(folder, 0o700)
  })

  it('that is a file is refused with its name', async () => {
    const file = path.join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    await expect(openLocalStore(file)).rejects.toThrow(`the data folder ${file} cannot be written`)
  })

  it('is listed and opened with files of somebody else in it', async () => {
    const folder = temporaryFolder()
    const store = await openLocalStore(folder)
    const run = await StoredRun.begin(archiveOn(store))
    await run.append(say('a'))
    for (const name of ['notes.txt~', 'run.lvr~backup', '~', 'Thumbs.db', '.DS_Store']) {
      for (const place of ['', 'runs', 'runs/default', 'runs/default/run', 'uploads']) {
        mkdirSync(path.join(folder, 'objects', place), { recursive: true })
        writeFileSync(path.join(folder, 'objects', place, name), '')
      }
    }
    await archiveOn(store).release(run.key, run.epoch)
    await createMaintainer(store.ports, systemClock).pass()
    expect(await run.stored()).toEqual(run.bytes)
    store.close()
    ;(await openLocalStore(folder)).close()
  })

  it('loses what a killed server left half written', async () => {
    const folder = temporaryFolder()
    ;(await openLocalStore(folder)).close()
    const half = path.join(folder, 'objects', '.temporary', 'half')
    writeFileSync(half, 'half')
    ;(await openLocalStore(folder)).close()
    expect(existsSync(half)).toBe(false)
  })
})

describe('an append', () => {
  const failing = (code: string) => {
    let isFailing = false
    const sync = async () => {
      if (isFailing) throw Object.assign(new Error(code), { code })
    }
    return { sync, fail: (now: boolean) => (isFailing = now) }
  }

  it('on a full disk is unavailable, and lands when there is room again', async () => {
    const { sync, fail } = failing('ENOSPC')
    const folder = temporaryFolder()
    const store = await openLocalStore(folder, { sync })
    const run = await StoredRun.begin(archiveOn(store))
    await run.append(say('before'))
    fail(true)
    await expect(run.send({})).rejects.toMatchObject({ code: 'unavailable', facts: { retry_after_s: 5 } })
    expect(await run.stored()).toEqual(run.bytes)
    expect(readdirSync(path.join(folder, 'objects', '.temporary'))).toEqual([])
    fail(false)
    await run.append(say('after'))
    expect(await run.stored()).toEqual(run.bytes)
    store.close()
  })

  it('whose fsync fails is not acked, and nothing is after it', async () => {
    const { sync, fail } = failing('EIO')
    const store = await openLocalStore(temporaryFolder(), { sync })
    const run = await StoredRun.begin(archiveOn(store))
    await run.append(say('before'))
    fail(true)
    await expect(run.send({})).rejects.toMatchObject({ code: 'internal' })
    expect(await store.broken).toMatchObject({ cause: { code: 'EIO' } })
    fail(false)
    await expect(run.send({})).rejects.toMatchObject({ code: 'internal' })
    expect(await run.stored()).toEqual(run.bytes)
    store.close()
  })
})

describe('a file name', () => {
  it.each(['run', 'Run', 'RUN', 'rUn-1.x_Y', 'dot.', 'A'.repeat(128), `a${'.'.repeat(127)}`])(
    'of %s turns back',
    (part) => {
      const name = encode(part)
      expect(decode(name)).toBe(part)
      expect(name).toBe(name.toLowerCase())
      expect(name.length).toBeLessThanOrEqual(200)
      expect(name.endsWith('.')).toBe(false)
    },
  )

  it('differs for parts that differ in case alone', () => {
    expect(new Set(['ab', 'Ab', 'aB', 'AB'].map(encode)).size).toBe(4)
  })
})
