import { newCounters } from './counters.ts'
import type { FoundSession } from './find.ts'
import { firstBytes } from './first-bytes.ts'

const HEAD_BYTES = 256 << 10
const CWD = /"(?:cwd|workDir)"\s*:\s*("(?:[^"\\]|\\.)*")/

/** The folder a session was held in, as its files say near their beginning; for choosing sessions, not for archiving them. */
export const cwdOf = async ({ files }: FoundSession): Promise<string | undefined> => {
  for (const file of files.toReversed()) {
    if (!/\.jsonl?$/.test(file.path)) continue
    const head = await firstBytes(file, HEAD_BYTES, newCounters())
    const [, cwd] = CWD.exec(head?.toString('utf8') ?? '') ?? []
    try {
      if (cwd !== undefined) return JSON.parse(cwd) as string
    } catch {} // bytes that are no JSON say nothing
  }
  return undefined
}
