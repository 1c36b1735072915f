import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'

/** The path that an argument names, or undefined when it is a run id: no such file, no slash, no `.lvr`. */
export const fileOf = async (cwd: string, target: string): Promise<string | undefined> => {
  const path = resolve(cwd, target)
  if (/[/\\]|\.lvr$/i.test(target)) return path
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? path : undefined
}
