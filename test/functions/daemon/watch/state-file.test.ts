import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newState } from '../../../../functions/daemon/watch/run-state.ts'
import { isWatched, openStates, readStates } from '../../../../functions/daemon/watch/state-file.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'

const state = newState({ run_id: 'r', path: '/runs/r/run.lvr' })

describe('what is remembered of a runs folder', () => {
  it('is there again after the watcher has ended, and may be read while it runs', () => {
    const folder = temporaryFolder()
    {
      using states = openStates(folder)
      states?.put(state)
      states?.put({ ...state, verified: 7 })
      expect(readStates(folder)).toEqual([{ ...state, verified: 7 }])
    }
    using again = openStates(folder)
    expect(again?.get('r')).toEqual({ ...state, verified: 7 })
    expect(again?.get('other')).toBeUndefined()
  })

  it('is made anew where it is damaged, since all of it can be found out again', () => {
    const folder = temporaryFolder()
    writeFileSync(
      join(folder, 'watch.sqlite'),
      'this is no database, however long one looks at it '.repeat(50),
    )
    expect(readStates(folder)).toEqual([])
    using states = openStates(folder)
    states?.put(state)
    expect(readStates(folder)).toEqual([state])
  })

  it('is opened though something was written into the lock, and has one owner then', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'watch.lock'), '4711\n')
    expect(isWatched(folder)).toBe(false)
    writeFileSync(join(folder, 'watch.lock'), '4711\n')
    using states = openStates(folder)
    expect(states).toBeDefined()
    expect(openStates(folder)).toBeUndefined()
  })

  it.skipIf(process.getuid?.() === 0)(
    'may be read, and says where it cannot be written, when it belongs to another',
    () => {
      // Skipped for root, who may write everywhere.
      const folder = temporaryFolder()
      {
        using states = openStates(folder)
        states?.put(state)
      }
      chmodSync(join(folder, 'watch.sqlite'), 0o444)
      chmodSync(folder, 0o555)
      try {
        expect(readStates(folder)).toEqual([state])
        expect(() => openStates(folder)).toThrow(`cannot be kept in ${folder}`)
      } finally {
        chmodSync(folder, 0o755)
      }
    },
  )

  it('names its folder where it cannot be kept', () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    expect(() => openStates(join(file, 'state'))).toThrow(`cannot be kept in ${file}`)
  })

  it('is nothing where no watcher ever ran', () => {
    expect(readStates(temporaryFolder())).toEqual([])
  })
})
