import { JsonNumber } from '../schema/index.ts'
import type { AbsentInput, FileInput, FileVersion, Input, TranscriptRequest } from './adapter.ts'
import type { WrittenSoFar } from './document-writer.ts'
import type { ValueMap } from './exact-json.ts'
import { ancestorFile, isSame } from './inputs.ts'
import { type Adapter, parserName } from './parser.ts'
import { decodeState, type SavedMap } from './state.ts'

/** An earlier derivation, to be gone on with. */
export interface Resumed {
  readonly saved: SavedMap
  /** The document up to the end of its stable messages. */
  readonly written: WrittenSoFar
  /** What the reused messages depend on, as it is now. */
  readonly inputs: readonly Input[]
}

/** Reads a state, unless something that its messages depend on is no longer what it was. */
export async function resumable(
  request: TranscriptRequest,
  adapter: Adapter,
  state: Uint8Array,
): Promise<Resumed | undefined> {
  const saved = decodeState(state, parserName(adapter))
  if (saved?.text('id') !== request.id || saved.text('agent') !== request.agent) return undefined
  const own = new Map(request.files.list.map((file) => [file.path, file]))
  const inputs: Input[] = []
  for (const item of saved.list('inputs')) {
    const input = inputFrom(item as ValueMap)
    if ('agents' in input) continue
    if (input.session !== undefined) {
      const { files, file } = await ancestorFile(request, adapter, input.session)
      const grew = files && file && isLater(input, file) && !isSame(input, file)
      if (grew && !(await adapter.standsWithLater?.(saved.map('parser'), files, file))) return undefined
      if (!grew && !isSame(input, file)) return undefined
      inputs.push({ ...input, ...file })
    } else if (input.use === 'message') {
      const file = own.get(input.path)
      const goesOn = input.path === saved.text('path') && isLater(input, file)
      if (!goesOn && !isSame(input, file)) return undefined
      inputs.push(input)
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
    inputs,
  }
}

/** Whether it is the same generation, which only grows. */
function isLater(input: FileInput | AbsentInput, file: FileVersion | undefined): boolean {
  return 'digest' in input && file?.generation === input.generation && file.tail >= input.tail
}

function inputFrom(item: ValueMap): Input {
  const plain = [...item].map(([name, value]) => [
    name,
    value instanceof JsonNumber ? Number(value.text) : value,
  ])
  return Object.fromEntries(plain) as Input
}
