import { open } from 'node:fs/promises'
import type { FoundSession } from './find.ts'

const HEAD_BYTES = 256 << 10
const CWD = /"(?:cwd|workDir)"\s*:\s*("(?:[^"\\]|\\.)*")/

/** The folder a session was held in, as its files say near their beginning; for choosing sessions, not for archiving them. */
export const cwdOf = async ({ files }: FoundSession): Promise<string | undefined> => {
  for (const { source, isPacked } of files.toReversed()) {
    if (isPacked || !/\.jsonl?$/.test(source)) continue
    const handle = await open(source).catch(() => undefined)
    if (!handle) continue
    try {
      const head = Buffer.alloc(HEAD_BYTES)
      const { bytesRead } = await handle.read(head, 0, head.length, 0)
      const [, cwd] = CWD.exec(head.toString('utf8', 0, bytesRead)) ?? []
      if (cwd !== undefined) return JSON.parse(cwd) as string
    } catch {
      // Bytes that are no JSON say nothing.
    } finally {
      await handle.close()
    }
  }
  return undefined
}
