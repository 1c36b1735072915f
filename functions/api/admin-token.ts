import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTokenText } from '#store'

/** The first token: the one given, or one that was made at the first start and stands in the data folder (API.md, Auth). */
export interface AdminToken {
  readonly text: string
  /** Where a person finds it. */
  readonly place: string
}

export async function adminToken(data: string, given: string | undefined): Promise<AdminToken> {
  const file = join(data, 'admin-token')
  if (given !== undefined) return { text: given, place: 'RUNFOLD_ADMIN_TOKEN' }
  const found = await readFile(file, 'utf8').catch(absent)
  if (found?.trim()) return { text: found.trim(), place: file }
  const text = makeTokenText()
  await mkdir(data, { recursive: true })
  await writeFile(`${file}.new`, `${text}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return { text, place: file }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
