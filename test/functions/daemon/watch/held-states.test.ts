import { expect, it } from 'vitest'
import { heldStates } from '../../../../functions/daemon/watch/held-states.ts'
import { newState, type RunState } from '../../../../functions/daemon/watch/run-state.ts'

const state = (run_id: string, verified: number) => ({ ...newState({ run_id, path: run_id }), verified })

it('a disk that takes no more states, or gives none, costs nothing but being told of it once', () => {
  const disk = new Map<string, RunState>()
  let isFull = true
  const failIfFull = () => {
    if (isFull) throw new Error('database or disk is full')
  }
  const told: string[] = []
  const states = heldStates(
    {
      get: (run) => {
        failIfFull()
        return disk.get(run)
      },
      put: (each) => {
        failIfFull()
        disk.set(each.run_id, each)
      },
      all: () => disk.values(),
    },
    ({ message }) => told.push(message),
  )
  states.put(state('a', 1))
  states.put(state('b', 1))
  states.put(state('a', 2))
  expect([states.get('a')?.verified, states.get('b')?.verified, states.get('c')]).toEqual([2, 1, undefined])
  expect(told).toEqual(['database or disk is full'])
  isFull = false
  states.put(state('c', 1))
  expect([...disk.keys()].toSorted()).toEqual(['a', 'b', 'c'])
  expect(disk.get('a')?.verified).toBe(2)
  isFull = true
  states.put(state('a', 3))
  expect(told).toHaveLength(2)
})
