import { createWriteStream, existsSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { demoArchive } from '../../functions/cli/demo-run.ts'

/** The generated archive, kept in the temporary folder between runs: the same seed gives the same bytes. */
export async function archiveFile(records: number): Promise<string> {
  const file = join(tmpdir(), `runfold-bench-${records}.lvr`)
  if (existsSync(file)) return file
  const fresh = `${file}.${process.pid}`
  await pipeline(Readable.from(demoArchive({ seed: 7, records })), createWriteStream(fresh))
  renameSync(fresh, file)
  return file
}
