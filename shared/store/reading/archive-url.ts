import { extentStart, objectKey } from '../keys.ts'
import type { StorePorts } from '../ports.ts'
import type { ArchiveView } from './view.ts'

/**
 * A URL under which the storage itself gives the whole archive for so many seconds, which are far fewer than the grace of a
 * replaced object. Undefined where the storage signs none, or where the archive is not one object (that of an ended run is).
 */
export async function archiveUrl(
  { ports: { objects } }: { readonly ports: Pick<StorePorts, 'objects'> },
  { run, head }: Pick<ArchiveView, 'run' | 'head'>,
  seconds: number,
): Promise<string | undefined> {
  const [only, ...more] = Object.entries(head.extents)
  if (!only || more.length > 0) return undefined
  const [name, extent] = only
  return objects.url?.(objectKey(run, extentStart(name), extent), `${run.run_id}.lvr`, seconds)
}
