import { digestOf, loadDigest } from '../codec/index.ts'
import type {
  AbsentInput,
  FileInput,
  FileVersion,
  Input,
  SessionFiles,
  TranscriptRequest,
} from './adapter.ts'
import { adapterOf } from './harnesses.ts'
import type { Adapter } from './parser.ts'

/**
 * Whether everything a derivation looked at still is what it was. If so, the same derivation would give the same bytes. It
 * reads no file; asks for the ancestor of a fork only.
 */
export async function inputsStand(
  request: Pick<TranscriptRequest, 'harness' | 'id' | 'files' | 'ancestor'>,
  inputs: readonly Input[],
): Promise<boolean> {
  await loadDigest()
  const adapter = adapterOf(request.harness)
  const files = new Map(request.files.list.map((file) => [file.path, file]))
  for (const input of inputs) {
    if ('agents' in input) {
      const [, ...agents] = adapter.transcripts(request.id, files.keys())
      if (input.agents !== digestOfPaths(agents.map(({ path }) => path))) return false
    } else {
      const { session, path } = input
      const other = session === undefined ? undefined : await ancestorFile(request, adapter, session)
      if (!isSame(input, other ? other.file : files.get(path))) return false
    }
  }
  return true
}

/** Whether the file is the one that was looked at, or is still missing. */
export function isSame(input: FileInput | AbsentInput, file: FileVersion | undefined): boolean {
  if ('absent' in input || file === undefined) return 'absent' in input && file === undefined
  return file.generation === input.generation && file.tail === input.tail && file.digest === input.digest
}

/** Another session's files, and its own transcript among them. */
export async function ancestorFile(
  request: Pick<TranscriptRequest, 'ancestor'>,
  adapter: Adapter,
  id: string,
): Promise<{ readonly files?: SessionFiles | undefined; readonly file?: FileVersion | undefined }> {
  const files = await request.ancestor(id)
  const [own] = adapter.transcripts(id, files?.list.map((file) => file.path) ?? [])
  return { files, file: files?.list.find((file) => file.path === own?.path) }
}

export function digestOfPaths(paths: readonly string[]): string {
  return digestOf(new TextEncoder().encode(paths.toSorted().join('\n')))
}
