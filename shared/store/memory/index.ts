import type { Clock, StorePorts } from '../ports.ts'
import { memoryObjects } from './objects.ts'
import { memoryRunIndex } from './run-index.ts'
import { memoryTokenIndex } from './token-index.ts'

/** The reference adapter: what tests run on, and what the other adapters are measured against. */
export function memoryPorts(clock: Clock): StorePorts {
  return { objects: memoryObjects(clock), index: memoryRunIndex(), tokens: memoryTokenIndex() }
}
