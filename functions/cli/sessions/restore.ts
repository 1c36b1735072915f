import { resolve } from 'node:path'
import prettyBytes from 'pretty-bytes'
import type { ListedSession } from '#schema'
import { counted } from '../../counted.ts'
import { restoreSession } from '../../daemon/restore.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

export const restore = async (
  session: Session,
  entry: ListedSession,
  { toDir, cwd = entry.cwd }: { readonly toDir: string; readonly cwd?: string },
): Promise<ExitCode> => {
  const { io, out, err, json, signal } = session
  if (cwd === undefined)
    throw new UsageError('the session does not say in which folder it was held; say it by --cwd')
  const held = cwd === entry.cwd ? cwd : resolve(io.cwd, cwd)
  const client = await session.client()
  let [files, bytes] = [0, 0]
  for await (const { wasThere, ...restored } of restoreSession({
    client,
    entry,
    home: resolve(io.cwd, toDir),
    cwd: held,
    signal,
  })) {
    files++
    bytes += restored.bytes
    if (json) await out.json({ ...restored, was_there: wasThere })
    else await err.line(oneLine(`${wasThere ? 'is there' : 'wrote'} ${restored.path}`))
  }
  if (!json) await out.line(`${counted(files, 'file')}, ${prettyBytes(bytes)}`)
  return EXIT.ok
}
