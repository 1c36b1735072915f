import { isRunfoldError, type SessionOutcome } from '#schema'
import { noteOf } from './document-note.ts'
import type { FoundFile, FoundSession } from './find.ts'
import { LeftOut } from './left-out.ts'
import type { Outage } from './outage.ts'
import { SessionServer } from './session-server.ts'
import { type ShippedFile, type ShippingFile, shipFile } from './ship-file.ts'
import { SourceMoved } from './source-file.ts'
import type { Syncing } from './syncing.ts'

export interface SyncedSession {
  readonly harness: FoundSession['harness']
  readonly id: string
  readonly outcome: SessionOutcome
  /** New to the server. */
  readonly bytes: number
  /** Whether the server has heard of it only now. */
  readonly isNew: boolean
  /** What is to be said about it, one a line. */
  readonly problems: readonly string[]
  readonly secrets: ReadonlyMap<string, number>
}

/** All files of a session, one after the other; one that cannot be read or sent does not keep the others. */
export const syncSession = async (
  syncing: Syncing & { readonly outage: Outage },
  session: FoundSession,
): Promise<SyncedSession> => {
  const { states } = syncing
  const server = new SessionServer(syncing, session)
  const shipping: ShippingFile = { ...syncing, server }
  const problems: string[] = []
  const secrets = new Map<string, number>()
  let [bytes, heldBack, well, unread, unsent] = [0, 0, 0, 0, 0]
  let last: ShippedFile | undefined
  let isReplaced = false
  const isNew = session.files.every(({ path }) => !states.file(session, path))
  const queue = [...session.files]
  const failed = (error: unknown, file: FoundFile) => {
    syncing.signal.throwIfAborted()
    if (isRunfoldError(error)) unsent++
    else unread++
    problems.push(`${file.path}: ${whyNot(error, file)}`)
    syncing.outage.meet(error, session)
  }
  for (const file of queue) {
    try {
      const shipped = await shipFile(shipping, session, file)
      if (!shipped) continue
      if (shipped.failure) failed(shipped.failure, file)
      else well++
      bytes += shipped.bytes
      for (const [family, count] of shipped.secrets) secrets.set(family, (secrets.get(family) ?? 0) + count)
      if (shipped.isHeldBack) {
        heldBack++
        problems.push(`${file.path}: held back, ${saySecrets(shipped.secrets)}`)
      }
      if (shipped.outcome !== undefined) last = shipped
      isReplaced ||= shipped.isReplaced === true
      if (shipped.isServerBehind && queue.length === session.files.length) queue.push(...session.files)
    } catch (error) {
      failed(error, file)
    }
  }
  const damage =
    syncing.verifies && !syncing.isDry ? await server.verify().catch((error) => [whyUnverified(error)]) : []
  problems.push(...damage)
  const note = await noteOf(syncing, server, session, last && { ...last, isReplaced })
  if (note) problems.push(note)
  const isSound = last?.outcome !== 'failed' && damage.length === 0
  // Nothing of what was new could be archived. Of a file that cannot be read nobody knows whether there was anything.
  const isLost = bytes === 0 && (unsent > 0 || (unread > 0 && well === 0))
  const isPartial = unread + unsent > 0 || heldBack > 0 || note !== null
  const outcome = !isSound || isLost ? 'failed' : isPartial ? 'partial' : bytes > 0 ? 'archived' : 'skipped'
  return { harness: session.harness, id: session.id, outcome, bytes, isNew, problems, secrets }
}

const whyUnverified = (error: Error): string => `the server cannot verify it: ${error.message}`

const whyNot = (error: unknown, { source }: FoundFile): string => {
  if (error instanceof LeftOut || error instanceof SourceMoved || isRunfoldError(error)) return error.message
  return `${source} cannot be read: ${(error as Error).message}`
}

/** Such as `AWS_SECRET 2, GITHUB_TOKEN 1`. */
export const saySecrets = (secrets: ReadonlyMap<string, number>): string =>
  [...secrets].map(([family, count]) => `${family} ${count}`).join(', ')
