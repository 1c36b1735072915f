import type { Clock, StorePorts } from '../ports.ts'
import { ownUploads } from '../uploads/own-uploads.ts'
import { memoryObjects } from './objects.ts'
import { memoryRunIndex } from './run-index.ts'
import { memorySessionIndex } from './session-index.ts'
import { memoryTokenIndex } from './token-index.ts'
import { memoryUploadIndex } from './upload-index.ts'

const SECRET_BYTES = 32

/** The reference adapter: what tests run on, and what the other adapters are measured against. */
export function memoryPorts(clock: Clock): StorePorts {
  const objects = memoryObjects(clock)
  return {
    objects,
    index: memoryRunIndex(),
    tokens: memoryTokenIndex(),
    uploads: ownUploads(objects, clock, crypto.getRandomValues(new Uint8Array(SECRET_BYTES))),
    uploadIndex: memoryUploadIndex(),
    sessions: memorySessionIndex(),
  }
}
