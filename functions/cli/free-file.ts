import { stat } from 'node:fs/promises'
import { UsageError } from './usage-error.ts'

/** Rejects with a UsageError where a file must not be written: at a folder, or over what is there without `force`. */
export const checkFree = async (path: string, force: boolean): Promise<void> => {
  const there = await stat(path).catch(() => undefined)
  if (there?.isDirectory()) throw new UsageError(`${path} is a folder; name a file`)
  if (there && !force) throw new UsageError(`${path} is there already; replace it with --force`)
}
