import { JsonNumber } from '../schema/index.ts'
import type { AbsentInput, FileInput, FileVersion, Input, TranscriptRequest } from './adapter.ts'
import type { WrittenSoFar } from './document.ts'
import type { ValueMap } from './exact-json.ts'
import { parserOf } from './harnesses.ts'
import { ancestorFile, isSame } from './inputs.ts'
import type { Adapter } from './parser.ts'
import { decodeState, type SavedMap } from './state.ts'

/** An earlier derivation, to be gone on with. */
export interface Resumed {
  readonly saved: SavedMap
  /** The document up to the end of its stable messages. */
  readonly written: WrittenSoFar
  /** What the reused messages depend on. */
  readonly inputs: readonly Input[]
}

/** Reads a state, unless something that its messages depend on is no longer what it was. */
export async function resumable(
  request: TranscriptRequest,
  adapter: Adapter,
  state: Uint8Array,
): Promise<Resumed | undefined> {
  const saved = decodeState(state, parserOf(request.harness))
  if (saved?.text('id') !== request.id || saved.text('agent') !== request.agent) return undefined
  const inputs = saved.list('inputs').map((item) => inputFrom(item as ValueMap))
  const files = new Map(request.files.list.map((file) => [file.path, file]))
  const offset = saved.int('offset')
  for (const input of inputs) {
    if ('agents' in input) continue
    if (input.session !== undefined) {
      if (!(await ancestorStands(request, adapter, saved, input))) return undefined
    } else if (input.use === 'message') {
      const file = files.get(input.path)
      const stands = input.path === saved.text('path') ? continues(input, file, offset) : isSame(input, file)
      if (!stands) return undefined
    }
  }
  const written = saved.map('written')
  return {
    saved,
    written: {
      bytes: written.int('bytes'),
      messages: written.int('messages'),
      hash: written.text('hash') ?? null,
    },
    inputs: inputs.filter((input) => input.use === 'message' || 'session' in input),
  }
}

/** Whether the transcript is the same generation, which only grows. */
function continues(input: FileInput | AbsentInput, file: FileVersion | undefined, offset: number): boolean {
  if ('absent' in input || file === undefined) return isSame(input, file)
  return file.generation === input.generation && file.tail >= offset
}

async function ancestorStands(
  request: TranscriptRequest,
  adapter: Adapter,
  saved: SavedMap,
  input: FileInput | AbsentInput,
): Promise<boolean> {
  const file = await ancestorFile(request, adapter, input.session ?? '')
  if (isSame(input, file)) return true
  if ('absent' in input || file === undefined) return false
  return adapter.ancestorMayGrow?.(saved.map('parser'), input, file) === true
}

function inputFrom(item: ValueMap): Input {
  const plain = [...item].map(([name, value]) => [
    name,
    value instanceof JsonNumber ? Number(value.text) : value,
  ])
  return Object.fromEntries(plain) as Input
}
